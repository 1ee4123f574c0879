import { createPublicKey } from "node:crypto"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { parseArgs } from "node:util"
import { startFakeGitHub } from "./fake-github.ts"

const help = `A fake GitHub on 127.0.0.1: pages, git and REST as on a GHES host, and REST as on api.github.com.

  npm run fake:github -- [flags]

  --port N                   port of pages, git and /api/v3 (default: any free one)
  --api-port N               port of the second listener, REST at the root (default: any free one)
  --app-id N                 id of the App (default 1)
  --slug NAME                slug of the App; it writes as NAME[bot] (default galley-review)
  --key-file PATH            the App's private key; made when the file is missing, with the public key in PATH.pub
  --client-id ID             OAuth client of the App
  --client-secret SECRET
  --webhook-url URL          where webhooks go
  --webhook-secret SECRET    needed with --webhook-url
  --enterprise-host HOST     X-GitHub-Enterprise-Host of webhooks (default: 127.0.0.1:PORT); "none": no such header
  --repository OWNER/NAME=DIR  a repository on disk, only read; may be given several times
  --installation N           id of the App's installation on those repositories (default 1)
  --user LOGIN               a person who can sign in; may be given several times

Every flag but the last three may also come from the environment: --webhook-url is FAKE_GITHUB_WEBHOOK_URL.
Prints one JSON line with its addresses when it is ready; Ctrl-C stops it. POST to /_fake/... drives it
(pulls, pulls/push, comments, faults, ...); GET /_fake/state shows what it holds.
`

const text = { type: "string" } as const
const flags = {
  port: text,
  "api-port": text,
  "app-id": text,
  slug: text,
  "key-file": text,
  "client-id": text,
  "client-secret": text,
  "webhook-url": text,
  "webhook-secret": text,
  "enterprise-host": text,
  repository: { type: "string", multiple: true },
  installation: text,
  user: { type: "string", multiple: true },
  help: { type: "boolean", short: "h" },
} as const

async function main(): Promise<void> {
  const { values } = parseArgs({ options: flags })
  if (values.help) {
    process.stdout.write(help)
    return
  }
  const fromEnvironment = (flag: string) => process.env[`FAKE_GITHUB_${flag.toUpperCase().replaceAll("-", "_")}`]
  const value = (flag: Exclude<keyof typeof flags, "repository" | "user" | "help">) => values[flag] ?? fromEnvironment(flag)
  const webhookUrl = value("webhook-url")
  const webhookSecret = value("webhook-secret")
  if (webhookUrl && !webhookSecret) throw new Error("--webhook-url needs --webhook-secret")

  const keyFile = value("key-file")
  const enterpriseHost = value("enterprise-host")
  const options = {
    port: Number(value("port") ?? 0),
    apiPort: Number(value("api-port") ?? 0),
    appId: Number(value("app-id") ?? 1),
    slug: value("slug"),
    clientId: value("client-id"),
    clientSecret: value("client-secret"),
    privateKeyPem: keyFile && existsSync(keyFile) ? await readFile(keyFile, "utf8") : undefined,
    webhook: { url: webhookUrl, secret: webhookSecret, enterpriseHost: enterpriseHost === "none" ? null : enterpriseHost },
  }
  const fake = await startFakeGitHub(options)
  try {
    if (keyFile && !options.privateKeyPem && fake.privateKeyPem) await writeKeys(keyFile, fake.privateKeyPem)
    for (const login of values.user ?? []) fake.registerUser(login)
    for (const repository of values.repository ?? []) {
      const [, owner = "", name = "", gitDirectory = ""] = /^([^/]+)\/([^=]+)=(.+)$/.exec(repository) ?? []
      await fake.registerRepository({ owner, name, gitDirectory, installationId: Number(values.installation ?? 1) })
    }
    const { url, apiUrl, rootApiUrl, state } = fake
    process.stdout.write(
      `${JSON.stringify({ url, apiUrl, rootApiUrl, appId: state.app.id, slug: state.app.slug, clientId: state.app.clientId })}\n`,
    )
    await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")])
  } finally {
    await fake.close()
  }
}

async function writeKeys(path: string, privateKeyPem: string): Promise<void> {
  await writeFile(path, privateKeyPem, { mode: 0o600 })
  await writeFile(`${path}.pub`, createPublicKey(privateKeyPem).export({ type: "spki", format: "pem" }))
}

await main()
