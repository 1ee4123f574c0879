/** A GitHub server with the App that is registered there, secrets opened. Never logged, never sent to a runner. */
export interface GithubHost {
  id: string
  name: string
  /** e.g. `https://github.com` */
  webUrl: string
  /** e.g. `https://api.github.com` */
  apiUrl: string
  appId: number
  /** The App's bot signs as `<slug>[bot]`. */
  appSlug: string
  privateKey: string
  /** One or two; a request signed with any of them is genuine. */
  webhookSecrets: string[]
  clientId: string | null
  clientSecret: string | null
}

export type NewGithubHost = Omit<GithubHost, "id">
