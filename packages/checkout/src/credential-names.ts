/**
 * Names under which secrets are kept. They are matched against comparable names (see `export-policy.ts`): lower case,
 * without invisible characters. Certificates and signing requests are public and stay readable.
 */

/** Everything below a folder of this name. */
const FOLDERS = new Set([".aws", ".azure", ".credentials", ".gnupg", ".kube", ".oci", ".password-store", ".ssh"])

const FILES = new Set([
  ".boto",
  ".databrickscfg",
  ".dockercfg",
  ".fetchmailrc",
  ".git-credentials",
  ".htpasswd",
  ".msmtprc",
  ".my.cnf",
  ".mylogin.cnf",
  ".netrc",
  ".npmrc",
  ".pgpass",
  ".pypirc",
  ".s3cfg",
  ".terraformrc",
  ".vault-token",
  "_netrc",
  "application_default_credentials.json",
  "auth.json",
  "clouds.yaml",
  "clouds.yml",
  "credentials",
  "kubeconfig",
  "pgpass.conf",
  "rclone.conf",
  "sftp-config.json",
  "sitemanager.xml",
  "terraform.rc",
])

/** Names that tell only together with their folder. */
const FILES_IN_FOLDERS = new Set([
  ".cargo/credentials.toml",
  ".docker/config.json",
  ".m2/settings.xml",
  ".m2/settings-security.xml",
  "gh/hosts.yml",
])

const FILE_PATTERNS = [
  // environment files named after their stage: production.env
  /\.env$/,
  // private keys and key stores
  /\.(?:pem|key|p12|pfx|pkcs12|p8|pk8|pvk|ppk|jks|jceks|bcfks|keystore|keytab|kdb|kdbx|psafe3|keychain|keychain-db|ovpn)$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?!.*\.pub$)/,
  /^ssh_host_[a-z0-9]+_key$/,
  /^secring\./,
  // state and password files of tools
  /\.tfstate(?:\.|$)/,
  /\.kubeconfig$/,
  /^\.?vault[-_]?pass(?:word)?(?:\.txt)?$/,
  // data files named after what they hold; a source file of that name is code
  /^(?:credentials?|secrets)\.(?:json|ya?ml|toml|ini|cfg|conf|csv|properties|xml|txt|db)$/,
  /^client[-_]secrets?.*\.json$/,
  /service[-_]?account.*\.json$/,
] as const

/** `.env` and all its variants, but the one that is meant to be shared. */
function isEnvironment(name: string): boolean {
  return name.startsWith(".env") && name !== ".env.example"
}

/**
 * True when a path looks as if it held a credential. Pure.
 *
 * @param names the parts of the path as comparable names
 */
export function isCredentialLike(names: readonly string[]): boolean {
  const file = names.at(-1) ?? ""
  if (names.some((name) => FOLDERS.has(name) || isEnvironment(name))) return true
  return FILES.has(file) || FILES_IN_FOLDERS.has(names.slice(-2).join("/")) || FILE_PATTERNS.some((pattern) => pattern.test(file))
}
