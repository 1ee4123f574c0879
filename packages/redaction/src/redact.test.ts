import { readFileSync } from "node:fs"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { redact } from "./redact.ts"

/** Secret-shaped text is put together at run time, so that this file holds none. */
const secret = (...parts: string[]): string => parts.join("")
const random = (length: number): string => "x7Gk2mQ9vB4nT6wZ8rL3cY5d".repeat(Math.ceil(length / 24)).slice(0, length)

const clean = (text: string, known: readonly string[] = []): string => redact(text, known).text

const shapes: ReadonlyArray<readonly [name: string, text: string, hidden: string]> = [
  ["aws-key-id", secret("AKI", "AQ3EGZ7XPLM2VTNCR"), secret("AKI", "AQ3EGZ7XPLM2VTNCR")],
  ["aws-secret", `aws_secret_access_key = ${random(38)}/+`, random(38)],
  ["aws-secret", `"SecretAccessKey": "${random(40)}"`, random(40)],
  ["github-token", secret("gh", "p_", random(36)), random(36)],
  ["github-token", secret("gh", "s_12345_", "eyJhbGciOiJSUzI1NiJ9.", random(60), ".", random(43)), random(43)],
  ["github-token", secret("github", "_pat_", random(22), "_", random(59)), random(59)],
  ["model-key", secret("sk-", "proj-", random(48)), random(48)],
  ["model-key", secret("sk-", "ant-api03-", random(93), "AA"), random(93)],
  ["model-key", secret("sk-", "or-v1-", "0a1b2c3d".repeat(8)), "0a1b2c3d0a1b"],
  ["model-key", secret("sk-", "0a1b2c3d".repeat(4)), "0a1b2c3d0a1b"],
  ["slack-token", secret("xo", "xb-123456789012-123456789012-", random(24)), random(24)],
  ["slack-webhook", secret("https://hooks.slack", ".com/services/T0000/B0000/", random(24)), random(24)],
  ["npm-token", secret("np", "m_", random(36)), random(36)],
  ["pypi-token", secret("py", "pi-AgEIcHlwaS5vcmc", random(70)), random(70)],
  ["google-key", secret("AI", "za", random(35)), random(35)],
  ["stripe-key", secret("sk_", "live_", random(24)), random(24)],
  ["jwt", secret("ey", "J", random(20), ".ey", "J", random(40), ".", random(43)), random(43)],
  ["url-password", "postgres://galley:s3cr@t!pw@db.internal:5432/app", "s3cr@t!pw"],
  ["url-password", "https://deploy:hunter2@git.example/r.git", "hunter2"],
  ["authorization", `Authorization: Bearer ${random(32)}`, random(32)],
  ["password", `const password = "${random(12)}"`, random(12)],
  ["password", 'password: "hunter2"', "hunter2"],
  ["password", "passwd = 'p@ss-wörd'", "p@ss-wörd"],
  ["password", `  "client_secret": '${random(20)}',`, random(20)],
  ["password", `config["apiKey"] = "${random(16)}"`, random(16)],
  ["password", `DB_PASSWORD=${random(16)}`, random(16)],
  ["password", `api_key: ${random(24)}`, random(24)],
  ["password", `export DB_PASSWORD=${random(16)}; start`, random(16)],
  ["password", "Server=db.internal;User Id=app;Password=Str0ng!Pass;Encrypt=true", "Str0ng!Pass"],
  ["password", String.raw`"body": "{\"password\":\"hunter2\"}"`, "hunter2"],
  ["password", String.raw`'{\\\"client_secret\\\": \\\"${random(20)}\\\"}'`, random(20)],
  ["aws-secret", String.raw`"{\"SecretAccessKey\": \"${random(40)}\"}"`, random(40)],
  ["authorization", String.raw`"{\"Authorization\":\"Bearer ${random(32)}\"}"`, random(32)],
  ["azure-key", `DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=${random(86)}==;EndpointSuffix=core.windows.net`, random(86)],
  ["azure-key", `"Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=all;SharedAccessKey=${random(43)}="`, random(43)],
]

// R-GATE-10
test.each(shapes)("hides %s in %j", (name, text, hidden) => {
  for (const line of [text, `+  const a = f("x") // ${text}`, `before\n${text}\nafter`]) {
    const result = redact(line, [])
    expect(result.text).not.toContain(hidden)
    expect(result.text).toContain(`[redacted:${name}]`)
    expect(result.count).toBeGreaterThan(0)
  }
})

test.each([
  "const password = process.env.DB_PASSWORD_2",
  "password: z.string().min(8).max(72)",
  'const tokenUrl = "https://auth.example/oauth2/token"',
  'token: "oauth_access_token_name"',
  'secret: "${{ secrets.DEPLOY_KEY_2 }}"',
  "postgres://${user}:${password}@${host}/db",
  "postgres://user:password@localhost/db",
  'const placeholder = "<your-api-key-1>"',
  ".sk-loading-indicator-container-element { color: red }",
  "integrity sha512-RTAMjCve4euxP2QKLuvRmdoW5J5DQK1DiZqt+7slfixyjAEi79QC2Df2oYKogibaAI4IEU8uzenoJeEl3k+UEw==",
  "commit dd6803558bd1e09cee63c2b42c3e014ff0625c0f",
  "const token: Uint8Array = read()",
  "for (const key of keys) { tokens[key] = 12345678901234 }",
  "import { monkey } from 'ghp_helpers'",
  "PASSWORD_MIN_LENGTH = 12345678",
  "const publicKey = `-----BEGIN PUBLIC KEY-----`",
  "this.token = sha256Base64Value;",
  "token=nextToken;",
  "export DB_PASSWORD=$VAULT_PASSWORD_2;",
  "Server=db.internal;User Id=app;Password=<password>;Encrypt=true",
  String.raw`"{\"token\": \"oauth_access_token_name\", \"password\": \"\", \"secret\": null}"`,
  String.raw`const quoted = /token\\"/.test(text) ? "a1b2c3d4" : text`,
  "AccountName=shop;AccountKey=${storageAccountKey1}${storageAccountKey2};EndpointSuffix=core.windows.net",
  "AccountKey=TheAccountKeyOfTheStorageIsInTheVaultOfTheShop",
])("leaves %j readable", (text) => {
  expect(redact(text, [])).toEqual({ text, count: 0 })
})

describe("private keys", () => {
  const border = (side: string, kind = "RSA "): string => secret("-----", side, " ", kind, "PRIVATE", " KEY-----")
  const body = Array.from({ length: 4 }, () => random(64))
  const whole = [border("BEGIN"), ...body, border("END")]

  test("a whole block goes and its line breaks stay", () => {
    expect(clean(["a", ...whole, "b"].join("\n"))).toBe("a\n[redacted:private-key]\n\n\n\n\n\nb")
  })

  test("a block in a diff keeps the sign of every line", () => {
    const lines = clean(["+a", ...whole.map((line) => `+${line}`), " b"].join("\n")).split("\n")
    expect(lines).toEqual(["+a", "+[redacted:private-key]", "+", "+", "+", "+", "+", " b"])
    const removed = clean(whole.map((line) => `-${line}`).join("\n")).split("\n")
    expect(removed).toEqual(["-[redacted:private-key]", "-", "-", "-", "-", "-"])
  })

  test("a block cut at its end goes up to the last line of base64", () => {
    expect(clean([border("BEGIN", ""), ...body, "const next = 1"].join("\n"))).toBe("[redacted:private-key]\n\n\n\n\nconst next = 1")
  })

  test("a block cut at its start goes from the first line of base64", () => {
    const result = clean(
      ["const previous = 1", ...body.map((line, i) => `${i + 7}: ${line}`), `11: ${border("END", "EC ")}`, "x"].join("\n"),
    )
    expect(result.split("\n")).toHaveLength(7)
    expect(result).not.toContain(random(20))
    expect(result).toContain("const previous = 1")
  })

  test("a block on one line with written-out line breaks goes, whole or cut", () => {
    expect(clean(`"key": "${whole.join("\\n")}\\n",`)).toBe('"key": "[redacted:private-key]\\n",')
    expect(clean(`"key": "${whole.slice(0, 3).join("\\n")}`)).toBe('"key": "[redacted:private-key]')
  })

  test("every block of a file goes, also when one of them is cut", () => {
    const result = redact([...whole, "a", ...whole.slice(0, 3), "b", ...whole].join("\n"), [])
    expect(result.count).toBe(3)
    expect(result.text).not.toContain(random(20))
    expect(result.text).toContain("\na\n")
    expect(result.text).toContain("\nb\n")
  })
})

describe("values known by the caller", () => {
  const known = "correct-horse+battery/staple?"

  test("go in plain, URL-encoded and base64 form wherever they stand in the encoded bytes", () => {
    for (const prefix of ["", "u", "us", "user:"]) {
      const base64 = Buffer.from(`${prefix}${known}:x`).toString("base64")
      const result = clean(`a ${known} b ${encodeURIComponent(known)} c ${base64} d`, [known])
      expect(result).not.toContain(known)
      expect(result).not.toContain(encodeURIComponent(known))
      expect(Buffer.from(result.split("c ")[1] ?? "", "base64").toString()).not.toContain("horse")
    }
  })

  test("of several lines keep their number of lines", () => {
    expect(clean("a\none line\ntwo lines\nb", ["one line\ntwo lines"])).toBe("a\n[redacted:known-secret]\n\nb")
  })

  test("go as a whole when one begins with another", () => {
    expect(clean("a battery-staple-horse b", ["battery-staple", "battery-staple-horse"])).toBe("a [redacted:known-secret] b")
  })

  test("are ignored when they are so short that ordinary text holds them", () => {
    expect(clean("return value", ["value"])).toBe("return value")
  })
})

type PeerRule = Readonly<{ id: string; pattern: string }>
const peer: { rules: PeerRule[] } = JSON.parse(readFileSync(new URL("./fixtures/gitleaks-rules.json", import.meta.url), "utf8"))

test.each(peer.rules.map((rule) => [rule.id, rule] as const))("recognises what gitleaks calls %s", (_id, rule) => {
  const examples = fc.sample(fc.stringMatching(new RegExp(`^(?:${rule.pattern})$`), { maxLength: 400 }), {
    numRuns: 40,
    seed: 7,
  })
  for (const example of examples) {
    expect(clean(`const value = f("${example}")`)).not.toContain(example.slice(-16))
  }
})

describe("any text", () => {
  const pieces = fc.constantFrom(
    "\n",
    "-",
    "+",
    " ",
    "a",
    "9",
    "=",
    '"',
    ":",
    "://",
    "@",
    "eyJ",
    ".",
    "sk-",
    "ghp_",
    "token",
    "password=",
    "\\n",
    "\u2028",
    secret("-----BEGIN ", "PRIVATE KEY-----"),
    secret("-----END ", "PRIVATE KEY-----"),
    random(30),
  )
  const texts = fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join(""))

  test("keeps its number of lines, and a second pass finds nothing", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const once = redact(text, ["battery-staple"])
        expect(once.text.split("\n")).toHaveLength(text.split("\n").length)
        expect(redact(once.text, ["battery-staple"]).text).toBe(once.text)
      }),
    )
  })

  test.each([
    ["one letter", "a"],
    ["token starts", "eyJ"],
    ["JWT parts", "eyJaaaaaaaaaaaaaaaaaa.ey"],
    ["URL starts", "://a:"],
    ["assignments", "token="],
    ["quoted assignments", 'password:"a'],
    ["key prefixes", "sk-"],
    ["slack prefixes", "xoxb-"],
    ["labels", "aws_secret_access_key"],
    ["key borders", secret("-----BEGIN ", "PRIVATE KEY-----\n")],
    ["key ends", secret("AAAAAAAAAAAAAAAAAAAAAAAAA\n-----END ", "PRIVATE KEY-----\n")],
    ["key ends on one line", secret("-----END ", "PRIVATE KEY-----")],
    ["authorization", "authorization: bearer "],
    ["shell assignments", "token=a1b2c3d4"],
    ["connection strings", "AccountKey=a1"],
    ["backslashes", "\\"],
    ["escaped assignments", String.raw`password\":\"a`],
  ])("takes time in proportion to hostile input: %s", (_name, unit) => {
    const time = (bytes: number): number => {
      const text = unit.repeat(Math.ceil(bytes / unit.length))
      const start = process.threadCpuUsage().user
      redact(text, ["battery-staple"])
      return (process.threadCpuUsage().user - start) / 1_000
    }
    time(20_000)
    const small = Math.min(time(100_000), time(100_000))
    // Milliseconds of CPU. Quadratic work would take 100 times as long; ten times the input may take 40 times, for a noisy machine.
    expect(time(1_000_000)).toBeLessThan(40 * small + 100)
  })
})
