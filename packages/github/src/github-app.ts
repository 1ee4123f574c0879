import { errorCode } from "@galley/contract/errors"
import { createAppAuth } from "@octokit/auth-app"
import { request as octokitRequest } from "@octokit/request"
import githubAppJwt from "universal-github-app-jwt"
import { z } from "zod"
import { createGitHubClock } from "./github-clock.ts"
import { type GitHubDuty, githubFault } from "./github-fault.ts"
import { createRatePauses } from "./rate-pauses.ts"
import { PAGE_SIZE, readPages } from "./read-pages.ts"

export type GitHubAppOptions = Readonly<{
  /** REST root without a slash at the end, e.g. `https://api.github.com` or `https://ghes.example/api/v3`. */
  apiUrl: string
  appId: number
  /** PEM, PKCS#1 as GitHub hands it out or PKCS#8. */
  privateKey: string
  userAgent: string
  /** Milliseconds for one request. */
  timeoutMs: number
}>

export type Installation = Readonly<{
  id: number
  account: string
  accountId: number
  suspended: boolean
  permissions: Record<string, string>
  /** When any of this changed last. */
  changedAt: Date
}>
export type InstalledRepository = Readonly<{ id: number; owner: string; name: string; private: boolean; archived: boolean }>

/** One call below the REST root with a token narrowed to one repository. `parameters` fill the route's placeholders, query and body. */
export type GitHubCall = (
  duty: GitHubDuty,
  route: string,
  parameters: Record<string, unknown>,
) => Promise<{ data: unknown; headers: Record<string, unknown> }>

/** The App's credentials at one GitHub host. The private key stays in here. */
export type GitHubApp = Readonly<{
  /** A fresh token that can only read the contents of one repository; never cached, so that it outlives the job it is for. */
  mintReadToken(installationId: number, repositoryId: number): Promise<string>
  /**
   * Calls with a cached token narrowed to the pull requests of one repository. After a rate limit the installation's calls fail with
   * `github_rate_limited` at once, without asking GitHub, until the time it named.
   */
  forRepository(installationId: number, repositoryId: number): GitHubCall
  /** Calls as the App itself, e.g. about its webhook. After a rate limit these calls fail at once, as those of an installation do. */
  asApp: GitHubCall
  /** Login of the App's bot: `<slug>[bot]`. */
  botLogin(): Promise<string>
  listInstallations(): Promise<Installation[]>
  listRepositories(installationId: number): Promise<InstalledRepository[]>
}>

const AppAnswer = z.object({ slug: z.string().min(1) })
const InstallationsAnswer = z.array(
  z.object({
    id: z.int(),
    account: z.object({ login: z.string(), id: z.int() }),
    suspended_at: z.string().nullable().optional(),
    permissions: z.record(z.string(), z.string()).default({}),
    updated_at: z.iso.datetime({ offset: true }),
  }),
)
const RepositoriesAnswer = z.object({
  repositories: z.array(
    z.object({
      id: z.int(),
      name: z.string(),
      private: z.boolean(),
      archived: z.boolean().default(false),
      owner: z.object({ login: z.string() }),
    }),
  ),
})

/** In place of an installation's id, which GitHub counts from 1. */
const APP_ITSELF = 0
/** 10,000 entries. */
const MAX_PAGES = 100

/** @throws codes of `githubFault` from every method */
export function connectGitHubApp(options: GitHubAppOptions): GitHubApp {
  const request = octokitRequest.defaults({
    baseUrl: options.apiUrl,
    headers: { "user-agent": options.userAgent, "x-github-api-version": "2022-11-28", accept: "application/vnd.github+json" },
  })
  const bounded: typeof request = request.defaults({
    request: { hook: (send: typeof request, endpoint: Parameters<typeof request>[0]) => send(withTimeout(endpoint, options.timeoutMs)) },
  })
  const clock = createGitHubClock()
  const createJwt = async (id: number | string) => {
    const signed = await githubAppJwt({ id, privateKey: options.privateKey, now: Math.floor(clock.nowMs() / 1_000) })
    return { jwt: signed.token, expiresAt: new Date(signed.expiration * 1_000).toISOString() }
  }
  const auth = createAppAuth({ appId: options.appId, createJwt, request: bounded })
  const pauses = createRatePauses()
  let slug: Promise<string> | null = null

  const guarded = async <T>(duty: GitHubDuty, work: () => Promise<T>): Promise<T> => {
    try {
      return await work().catch((error: unknown) => {
        if (clock.correct(error)) return work()
        throw error
      })
    } catch (error) {
      throw githubFault(error, duty, clock.nowMs())
    }
  }
  const installationToken = (installationId: number, repositoryId: number | null, permissions: Record<string, string>, refresh: boolean) =>
    guarded("token", async () => {
      const narrowing = repositoryId === null ? {} : { repositoryIds: [repositoryId] }
      const answer = await auth({ type: "installation", installationId, ...narrowing, permissions, refresh })
      return answer.token
    })
  const asApp = async (route: string, parameters: Record<string, unknown>) => {
    const { token } = await auth({ type: "app" })
    return bounded(route, { ...parameters, headers: { authorization: `Bearer ${token}` } })
  }
  const pages = async <T>(fetchPage: (page: number) => Promise<T[]>): Promise<T[]> => {
    const all: T[] = []
    for await (const items of readPages(MAX_PAGES, fetchPage)) all.push(...items)
    return all
  }

  return {
    mintReadToken: (installationId, repositoryId) => installationToken(installationId, repositoryId, { contents: "read" }, true),

    forRepository: (installationId, repositoryId) => async (duty, route, parameters) => {
      const send = async (refresh: boolean) => {
        const token = await installationToken(installationId, repositoryId, { pull_requests: "write" }, refresh)
        return guarded(duty, async () => {
          const answer = await bounded(route, { ...parameters, headers: { authorization: `token ${token}` } })
          return { data: answer.data as unknown, headers: answer.headers }
        })
      }
      pauses.check(installationId)
      try {
        return await send(false).catch((error: unknown) => {
          // GitHub ends tokens before their time, e.g. with an installation: one that was kept is replaced, once.
          if (errorCode(error) === "github_unauthorized") return send(true)
          throw error
        })
      } catch (error) {
        pauses.note(installationId, error)
        throw error
      }
    },

    async asApp(duty, route, parameters) {
      pauses.check(APP_ITSELF)
      try {
        return await guarded(duty, async () => {
          const answer = await asApp(route, parameters)
          return { data: answer.data as unknown, headers: answer.headers }
        })
      } catch (error) {
        pauses.note(APP_ITSELF, error)
        throw error
      }
    },

    botLogin() {
      slug ??= guarded("read", async () => AppAnswer.parse((await asApp("GET /app", {})).data).slug).catch((error: unknown) => {
        // The next caller asks again: a fault must not stick for the life of the process.
        slug = null
        throw error
      })
      return slug.then((name) => `${name}[bot]`)
    },

    listInstallations: () =>
      guarded("read", () =>
        pages(async (page) => {
          const answer = await asApp("GET /app/installations", { per_page: PAGE_SIZE, page })
          return InstallationsAnswer.parse(answer.data).map((raw) => ({
            id: raw.id,
            account: raw.account.login,
            accountId: raw.account.id,
            suspended: raw.suspended_at !== null && raw.suspended_at !== undefined,
            permissions: raw.permissions,
            changedAt: new Date(raw.updated_at),
          }))
        }),
      ),

    async listRepositories(installationId) {
      const token = await installationToken(installationId, null, { metadata: "read" }, false)
      return guarded("read", () =>
        pages(async (page) => {
          const answer = await bounded("GET /installation/repositories", {
            per_page: PAGE_SIZE,
            page,
            headers: { authorization: `token ${token}` },
          })
          return RepositoriesAnswer.parse(answer.data).repositories.map((raw) => ({
            id: raw.id,
            owner: raw.owner.login,
            name: raw.name,
            private: raw.private,
            archived: raw.archived,
          }))
        }),
      )
    },
  }
}

/** Every request gets its own deadline; a hanging GitHub must not hold a task for ever. */
function withTimeout<T>(endpoint: T, timeoutMs: number): T {
  const parameters = endpoint as { request?: Record<string, unknown> }
  return { ...endpoint, request: { ...parameters.request, signal: AbortSignal.timeout(timeoutMs) } }
}
