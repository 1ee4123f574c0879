import type { FakeGitHub } from "@galley/fake-github"

/** A chat-completions service, and the name of its model there. */
export type ModelService = Readonly<{ baseUrl: string; apiKey: string; model: string }>

/** Nobody listens there: for a server whose reviews never come as far as the model. */
export const noModel: ModelService = { baseUrl: "http://127.0.0.1:9/v1", apiKey: "model key", model: "some-model" }

export type ServerFacts = Readonly<{
  databaseUrl: string
  /** On 127.0.0.1, where the server listens and is reached. */
  port: number
  github: FakeGitHub
  model: ModelService
  /** 32 bytes in base64. */
  masterKey: string
  webhookSecret: string
  runnerToken: string
}>

/** What an ordinary server beside a fake GitHub finds in its environment; everything else has its default. Pure. */
export function serverEnvironment(facts: ServerFacts): Record<string, string> {
  const { github, model } = facts
  return {
    DATABASE_URL: facts.databaseUrl,
    GALLEY_PUBLIC_URL: `http://127.0.0.1:${facts.port}`,
    GALLEY_LISTEN_PORT: String(facts.port),
    GALLEY_MASTER_KEY: facts.masterKey,
    GALLEY_RUNNER_TOKEN: facts.runnerToken,
    GITHUB_URL: github.url,
    GITHUB_API_URL: github.apiUrl,
    GITHUB_APP_ID: String(github.state.app.id),
    GITHUB_PRIVATE_KEY: github.privateKeyPem ?? "",
    GITHUB_WEBHOOK_SECRET: facts.webhookSecret,
    MODEL_BASE_URL: model.baseUrl,
    MODEL_API_KEY: model.apiKey,
    MODEL: model.model,
  }
}
