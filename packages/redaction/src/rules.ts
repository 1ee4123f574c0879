type Rule = Readonly<{
  name: string
  /** Group `keep` (optional) stays, the rest of the match is the secret. Global. */
  pattern: RegExp
  /** Last word on a match of a loose pattern; `after` is the character that follows. */
  isSecret?: (secret: string, after: string) => boolean
}>

/*
 * Two properties keep every pattern linear. Runs are bounded ({n,m}), and nothing that can fail follows a long run; where something
 * must (JWT, URL), a lookbehind or an excluded separator stops a second attempt inside the same run.
 */
const rules: readonly Rule[] = [
  { name: "aws-key-id", pattern: /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}(?![A-Za-z0-9])/g },
  {
    name: "aws-secret",
    pattern:
      /(?<keep>(?:aws|secret)[\w.-]{0,10}?(?:secret|access)[\w.-]{0,10}?key\\{0,3}["'`]?\s{0,5}[:=]{1,2}>?\s{0,5}\\{0,3}["'`]?)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/gi,
  },
  { name: "azure-key", pattern: /(?<keep>(?:account|sharedaccess)key\s{0,5}=\s{0,5})[A-Za-z0-9+/]{40,100}={0,2}/gi, isSecret: hasDigits },
  { name: "github-token", pattern: /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9_]{20,255}(?:\.[A-Za-z0-9_-]{1,1000}){0,2}/g },
  { name: "github-token", pattern: /(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{22,255}/g },
  { name: "model-key", pattern: /(?<![A-Za-z0-9])sk-(?:proj|svcacct|admin|ant|or|lf)-[A-Za-z0-9_-]{20,300}/g },
  { name: "model-key", pattern: /(?<![A-Za-z0-9-])sk-[A-Za-z0-9]{20,200}/g, isSecret: (secret) => /\d/.test(secret) },
  { name: "model-key", pattern: /(?<![A-Za-z0-9])pplx-[A-Za-z0-9]{40,100}/g },
  { name: "gitlab-token", pattern: /(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{20,300}/g },
  { name: "aws-bedrock-key", pattern: /(?<![A-Za-z0-9])ABSK[A-Za-z0-9+/]{100,300}={0,2}/g },
  { name: "slack-token", pattern: /(?<![A-Za-z0-9])(?:xox[abeoprs]|xapp)(?:\.xox[bp])?-[A-Za-z0-9-]{8,250}/gi },
  { name: "slack-webhook", pattern: /(?<keep>hooks\.slack\.com\/(?:services|workflows|triggers)\/)[A-Za-z0-9+/]{20,100}/g },
  { name: "npm-token", pattern: /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/gi },
  { name: "pypi-token", pattern: /(?<![A-Za-z0-9])pypi-[A-Za-z0-9_-]{50,1000}/g },
  { name: "google-key", pattern: /(?<![A-Za-z0-9])(?:AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{28})/g },
  { name: "stripe-key", pattern: /(?<![A-Za-z0-9])(?:[sr]k_(?:test|live|prod)|whsec)_[A-Za-z0-9]{10,250}/g },
  {
    name: "jwt",
    pattern: /(?<![A-Za-z0-9_-])eyJ?[A-Za-z0-9_-]{15,4000}\.ey[A-Za-z0-9/\\_-]{15,8000}\.(?:[A-Za-z0-9/\\_-]{10,2000}={0,2})?/g,
  },
  {
    name: "url-password",
    pattern: /(?<keep>:\/\/[^\s:@/'"`<>]{0,100}:)(?!\[redacted:)[^\s/'"`<>]{1,200}(?=@)/g,
    isSecret: isNoPlaceholder,
  },
  {
    name: "authorization",
    pattern:
      /(?<keep>authorization\\{0,3}["'`]?\s{0,5}[:=,]\s{0,5}\\{0,3}["'`]?(?:bearer|basic|token)\s{1,5})[A-Za-z0-9._~+/=-]{16,2000}/gi,
    isSecret: hasDigits,
  },
  {
    name: "password",
    pattern:
      /(?<keep>(?:password|passwd|passphrase|pwd|secret|token|credentials?|(?:api|access|auth|private|secret|encryption|signing|account)[_-]?key)["'`\]\\]{0,5}\s{0,5}(?::=|=>|={1,3}|:)\s{0,5}\\{0,3}["'`])(?!\[redacted:)[^\s"'`\\]{6,200}(?=\\{0,3}["'`])/gi,
    isSecret: looksRandom,
  },
  {
    name: "password",
    pattern:
      /(?<keep>(?:password|passwd|pwd|secret|token|(?:api|access|auth|private|secret)[_-]?key)\s{0,5}[=:]\s{0,5})[A-Za-z0-9+/=_!#%^&*~-]{12,200}/gi,
    isSecret: (secret, after) => /^(?:\s|)$/.test(after) && looksRandom(secret) && hasDigits(secret),
  },
  {
    name: "password",
    // A shell's or a connection string's: unlike most assignments of code before a semicolon, it has no blanks around the sign.
    pattern: /(?<keep>(?:password|passwd|pwd|secret|token|(?:api|access|auth|private|secret)[_-]?key)=)[A-Za-z0-9+/=_!#%^&*~@$-]{8,200}/gi,
    isSecret: (secret, after) => after === ";" && looksRandom(secret) && (hasDigits(secret) || /.[!@#$]/.test(secret)),
  },
]

/*
 * What at least stands in a line that a rule can match. Looking back from a rare separator (`-`, `_`, `:`, `=`) to the word before it
 * scans several times faster than looking for each word.
 */
const hints: readonly RegExp[] = [
  /A(?:KIA|SIA|BIA|CCA|3T|BSK|Iza)[A-Za-z0-9_+/-]{16}/,
  /(?<=gh[pousr]|github_pat|[Nn][Pp][Mm]|[sr]k_(?:live|test|prod)|whsec|sk|pypi|glpat|pplx|[Xx][Oo][Xx][A-Za-z]|[Xx][Aa][Pp][Pp]|GOCSPX)[_-][A-Za-z0-9_-]{7}/,
  /\.(?:ey|(?<=hooks\.slack\.)com)/,
  /:\/\/[^\s:@/'"`<>]{0,100}:/,
  /[:=,](?<=[detnysDETNYS]["'`\]\\]{0,5}\s{0,5}.)(?<=(?:[Pp]assw(?:or)?d|[Pp]assphrase|[Pp]wd|[Ss]ecret|[Tt]oken|[Kk]ey|[Cc]redentials?|[Aa]uthorization|PASSW(?:OR)?D|PASSPHRASE|PWD|SECRET|TOKEN|KEY|CREDENTIALS?|AUTHORIZATION)["'`\]\\]{0,5}\s{0,5}.)[:=>]{0,2}\s{0,5}\\{0,3}["'`]?(?:[^\s"'`\\]{6}|[Bb]earer|[Bb]asic|[Tt]oken)/,
]

/** Finds the next hint; global, so keep `lastIndex` in a copy. */
export const secretHint = new RegExp(hints.map((hint) => hint.source).join("|"), "g")

/** Applies every rule to one line. */
export function redactLine(line: string): { text: string; count: number } {
  let text = line
  let count = 0
  for (const { name, pattern, isSecret } of rules) {
    text = text.replace(pattern, (match: string, ...rest: unknown[]) => {
      const groups = rest.at(-1)
      const keep = isGroups(groups) ? groups.keep : ""
      const offset = Number(rest.at(isGroups(groups) ? -3 : -2))
      if (isSecret !== undefined && !isSecret(match.slice(keep.length), text.charAt(offset + match.length))) return match
      count += 1
      return `${keep}[redacted:${name}]`
    })
  }
  return { text, count }
}

function isGroups(value: unknown): value is { keep: string } {
  return typeof value === "object"
}

/** At least two digits: tells a key from words joined by dashes or a type name. */
function hasDigits(secret: string): boolean {
  return /\d\D{0,200}\d/.test(secret)
}

/** Names, templates and examples are left readable: a reviewer needs them and they hide nothing. */
function isNoPlaceholder(secret: string): boolean {
  return !/^(?:[$<{#*]|%[({sv]|(.)\1*$|(?:pass|passwd|password|secret|token|changeme|example|placeholder)$|your[_-]|process\.|os\.|https?:)/i.test(
    secret,
  )
}

function looksRandom(secret: string): boolean {
  return isNoPlaceholder(secret) && /[\d!@#$%^&*]/.test(secret) && /[A-Za-z]/.test(secret)
}
