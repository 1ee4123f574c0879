import { createHmac, randomBytes, randomUUID } from "node:crypto"
import { type FakeGitHub, startFakeGitHub } from "@galley/fake-github"
import { readServerConfig } from "@galley/server/config"
import { type OpenServer, openServer } from "@galley/server/open-server"
import { type Logger, pino } from "pino"
import { onTestFinished } from "vitest"
import { freshDatabase } from "./database.ts"

export const WEBHOOK_SECRET = "webhook secret of the tests"
export const RUNNER_TOKEN = "runner-token-of-the-tests-long-enough"

/** A server without a listener, on a database of its own, beside a fake GitHub. */
export type TestServer = OpenServer &
  Readonly<{
    github: FakeGitHub
    /** Sends a signed delivery to the server. */
    deliver(event: string, payload: unknown, headers?: Record<string, string>): Promise<Response>
    /** Sends a request of the runner protocol. */
    runner(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>
  }>

export type TestServerOptions = Readonly<{
  log?: Logger
  /** What is on GitHub before the server starts. */
  prepare?: (github: FakeGitHub) => Promise<unknown>
  /** GitHub's clock. */
  githubNow?: () => number
}>

export async function startTestServer(environment: Record<string, string> = {}, options: TestServerOptions = {}): Promise<TestServer> {
  const { url } = await freshDatabase()
  const github = await startFakeGitHub({ appId: 77, now: options.githubNow })
  onTestFinished(() => github.close())
  await options.prepare?.(github)
  const config = readServerConfig({
    DATABASE_URL: url,
    GALLEY_PUBLIC_URL: "http://127.0.0.1:8080",
    GALLEY_MASTER_KEY: randomBytes(32).toString("base64"),
    GALLEY_RUNNER_TOKEN: RUNNER_TOKEN,
    GITHUB_URL: github.url,
    GITHUB_API_URL: github.apiUrl,
    GITHUB_APP_ID: "77",
    GITHUB_PRIVATE_KEY: github.privateKeyPem ?? "",
    GITHUB_WEBHOOK_SECRET: WEBHOOK_SECRET,
    MODEL_BASE_URL: "http://127.0.0.1:9/v1",
    MODEL_API_KEY: "model key",
    MODEL: "some-model",
    // What the clock starts would come in the middle of some test.
    GALLEY_SCHEDULED_WORK: "0",
    ...environment,
  })
  const server = await openServer(config, options.log ?? pino({ level: "silent" }))
  onTestFinished(() => server.close())
  return {
    ...server,
    github,
    deliver: async (event, payload, headers = {}) => {
      const body = JSON.stringify(payload)
      return server.app.request("/webhooks/github", {
        method: "POST",
        body,
        headers: {
          "content-type": "application/json",
          "x-github-event": event,
          "x-github-delivery": randomUUID(),
          "x-hub-signature-256": `sha256=${createHmac("sha256", WEBHOOK_SECRET).update(body).digest("hex")}`,
          ...headers,
        },
      })
    },
    runner: async (path, body, headers = {}) =>
      server.app.request(`/runner/v1${path}`, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { authorization: `Bearer ${RUNNER_TOKEN}`, "content-type": "application/json", ...headers },
      }),
  }
}
