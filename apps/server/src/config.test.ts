import { generateKeyPairSync, randomBytes } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { GalleyError } from "@galley/contract/errors"
import { expect, onTestFinished, test } from "vitest"
import { readServerConfig } from "./config.ts"

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs1", format: "pem" },
})
const complete = {
  DATABASE_URL: "postgres://galley@127.0.0.1/galley",
  GALLEY_PUBLIC_URL: "https://galley.example",
  GALLEY_MASTER_KEY: randomBytes(32).toString("base64"),
  GALLEY_RUNNER_TOKEN: "a-runner-token-that-is-long-enough",
  GITHUB_APP_ID: "77",
  GITHUB_PRIVATE_KEY: privateKey,
  GITHUB_WEBHOOK_SECRET: "a webhook secret",
  MODEL_BASE_URL: "https://models.example/v1",
  MODEL_API_KEY: "a model key",
  MODEL: "some-model",
}

/** The variables that a refusal names. */
function refusedNames(environment: Record<string, string | undefined>): string[] {
  try {
    readServerConfig(environment)
  } catch (error) {
    if (!(error instanceof GalleyError) || error.code !== "config_invalid") throw error
    return [...error.message.matchAll(/^ {2}([A-Z_]+):/gm)].map(([, name]) => name ?? "")
  }
  return []
}

// R-CONF-1
test("names every missing variable at once, the private key among them", () => {
  expect(refusedNames({}).toSorted()).toEqual([
    "DATABASE_URL",
    "GALLEY_MASTER_KEY",
    "GALLEY_PUBLIC_URL",
    "GALLEY_RUNNER_TOKEN",
    "GITHUB_APP_ID",
    "GITHUB_PRIVATE_KEY",
    "GITHUB_WEBHOOK_SECRET",
    "MODEL",
    "MODEL_API_KEY",
    "MODEL_BASE_URL",
  ])
})

// R-CONF-1
test("names every wrong variable and never shows a value", () => {
  const wrong = {
    DATABASE_URL: "mysql://leaked-1",
    GALLEY_PUBLIC_URL: "ftp://leaked-2",
    GALLEY_LISTEN_PORT: "leaked-3",
    GALLEY_MASTER_KEY: "leaked-4",
    GALLEY_MASTER_KEY_PREVIOUS: "leaked-5",
    GALLEY_MAX_RUNNING_JOBS: "0",
    GALLEY_RUNNER_TOKEN: "leaked-6 with spaces, but long enough",
    GITHUB_URL: "https://user:leaked-7@github.example",
    GITHUB_APP_ID: "leaked-8",
    GITHUB_WEBHOOK_SECRET: "leaked-9",
    MODEL_BASE_URL: "leaked-10",
    MODEL: "leaked 11",
    LOG_LEVEL: "leaked-12",
  }
  expect(refusedNames({ ...complete, ...wrong }).toSorted()).toEqual(Object.keys(wrong).toSorted())
  expect(() => readServerConfig({ ...complete, ...wrong })).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining("leaked") }),
  )
})

test("takes an empty variable for a missing one", () => {
  expect(refusedNames({ ...complete, MODEL: "" })).toEqual(["MODEL"])
})

// R-BOUND-9
test.each([
  ["reached from elsewhere", { GALLEY_PUBLIC_URL: "https://galley.example" }],
  ["listening on every address", { GALLEY_PUBLIC_URL: "http://127.0.0.1:8080", GALLEY_LISTEN_HOST: "0.0.0.0" }],
])("refuses the demo login on a server that is %s", (_, addresses) => {
  expect(refusedNames({ ...complete, ...addresses, GALLEY_DEMO_LOGIN: "1" })).toEqual(["GALLEY_DEMO_LOGIN"])
})

// R-BOUND-9
test("allows the demo login on a server of this machine alone", () => {
  const config = readServerConfig({ ...complete, GALLEY_PUBLIC_URL: "http://localhost:8080", GALLEY_DEMO_LOGIN: "1" })
  expect(config).toMatchObject({ demoLogin: true, listen: { host: "127.0.0.1" } })
})

test("reads the private key from a file", () => {
  const directory = mkdtempSync(join(tmpdir(), "galley-config-"))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, "key.pem")
  writeFileSync(file, privateKey)
  const { GITHUB_PRIVATE_KEY: _, ...rest } = complete
  expect(readServerConfig({ ...rest, GITHUB_PRIVATE_KEY_FILE: file }).github.privateKey).toBe(privateKey)
  expect(refusedNames({ ...rest, GITHUB_PRIVATE_KEY_FILE: join(directory, "none") })).toEqual(["GITHUB_PRIVATE_KEY_FILE"])
  expect(refusedNames({ ...complete, GITHUB_PRIVATE_KEY_FILE: file })).toEqual(["GITHUB_PRIVATE_KEY"])
})

test("reads a private key whose line breaks are written as backslash and n, and refuses what is no key", () => {
  const config = readServerConfig({ ...complete, GITHUB_PRIVATE_KEY: privateKey.replaceAll("\n", "\\n") })
  expect(config.github.privateKey).toBe(privateKey)
  expect(refusedNames({ ...complete, GITHUB_PRIVATE_KEY: "no key" })).toEqual(["GITHUB_PRIVATE_KEY"])
})

test("accepts two live webhook secrets and two master keys, the newer ones first", () => {
  const previousKey = randomBytes(32)
  const config = readServerConfig({
    ...complete,
    GITHUB_WEBHOOK_SECRET_PREVIOUS: "the secret before it",
    GALLEY_MASTER_KEY_PREVIOUS: previousKey.toString("base64"),
  })
  expect(config.github.webhookSecrets).toEqual(["a webhook secret", "the secret before it"])
  expect(config.masterKeys).toEqual([Buffer.from(complete.GALLEY_MASTER_KEY, "base64"), previousKey])
})
