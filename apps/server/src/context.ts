import type { GitHubApp } from "@galley/github/github-app"
import type { Store } from "@galley/store/database"
import type { Logger } from "pino"
import type { ServerConfig } from "./config.ts"

/** What every part of a running server works with. Opened once by `main`, closed by it. */
export type ServerContext = Readonly<{
  config: ServerConfig
  store: Store
  github: GitHubApp
  /** Row of the GitHub host that the configuration names. */
  hostId: string
  /** The workspace that the configuration names; new installations belong to it. */
  workspaceId: string
  /** The user behind the demo login; null when it is off. */
  demoUserId: string | null
  log: Logger
}>
