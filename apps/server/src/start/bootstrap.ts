import { DEFAULT_DYNAMIC_MODEL } from "@galley/contract/settings"
import type { GitHubApp } from "@galley/github/github-app"
import type { Store } from "@galley/store/database"
import { bootstrapWorkspace } from "@galley/store/workspaces/bootstrap-workspace"
import type { ServerConfig } from "../config.ts"
import { ENVIRONMENT_RUNNER } from "../runners/environment-runner.ts"

/** The user behind the demo login. GitHub's own ids are positive, so this one meets nobody's. */
export const DEMO_USER = { githubUserId: -1, login: "demo", name: "Demo", avatarUrl: null }

/** How a workspace of this name is written in addresses. Pure. */
export const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 63) || "workspace"

/**
 * Makes or updates what the environment names: GitHub host, workspace, model provider, runner, demo user. The same start again changes
 * nothing.
 *
 * @throws codes of `githubFault` when the App cannot be read
 */
export async function bootstrap(
  store: Store,
  config: ServerConfig,
  github: GitHubApp,
): Promise<{ workspaceId: string; hostId: string; demoUserId: string | null }> {
  const botLogin = await github.botLogin()
  const { model } = config
  // Projects that name no model ask for the default one, whatever the operator calls theirs.
  const logicalNames = new Set([model.logicalName, DEFAULT_DYNAMIC_MODEL])
  const made = await bootstrapWorkspace(store, {
    workspace: { slug: slugOf(config.workspace.name), name: config.workspace.name, maxRunningJobs: config.workspace.maxRunningJobs },
    host: {
      name: new URL(config.github.webUrl).host,
      webUrl: config.github.webUrl,
      apiUrl: config.github.apiUrl,
      appId: config.github.appId,
      appSlug: botLogin.replace(/\[bot\]$/, ""),
      privateKey: config.github.privateKey,
      webhookSecrets: [...config.github.webhookSecrets],
      clientId: null,
      clientSecret: null,
    },
    provider: {
      name: "default",
      baseUrl: model.baseUrl,
      apiKey: model.apiKey,
      models: [...logicalNames].map((logical) => ({
        logical,
        upstream: model.upstreamModel,
        contextTokens: model.contextTokens,
        outputTokens: model.outputTokens,
        price: null,
      })),
      defaultModel: model.logicalName,
    },
    runner: { name: ENVIRONMENT_RUNNER, token: config.runnerToken },
    ...(config.demoLogin ? { owner: DEMO_USER } : {}),
  })
  if (made.hostId === null) throw new Error("a host was given, so it has an id")
  return { workspaceId: made.workspaceId, hostId: made.hostId, demoUserId: made.userId }
}
