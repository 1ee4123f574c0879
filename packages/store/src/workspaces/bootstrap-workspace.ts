import type { Store } from "../database.ts"
import type { NewGithubHost } from "../hosts/github-host.ts"
import { saveGithubHost } from "../hosts/save-github-host.ts"
import { type NewModelProvider, saveModelProvider } from "../providers/save-model-provider.ts"
import { ensureRunner } from "../runners/ensure-runner.ts"
import { inTransaction } from "../transaction.ts"
import { ensureMember } from "./ensure-member.ts"
import { ensureWorkspace } from "./ensure-workspace.ts"
import { recordUser, type UserSnapshot } from "./record-user.ts"

/** What the environment of a first start gives. Each part may be missing. */
export interface Bootstrap {
  workspace: { slug: string; name: string; maxRunningJobs?: number }
  host?: NewGithubHost
  provider?: Omit<NewModelProvider, "workspaceId">
  /** A runner that works for this workspace alone. */
  runner?: { name: string; token: string }
  /** Becomes owner; needs `host`. */
  owner?: Omit<UserSnapshot, "hostId">
}

export interface Bootstrapped {
  workspaceId: string
  hostId: string | null
  userId: string | null
}

/** Creates or updates what the environment names, in one transaction; the same start again changes nothing but fresh seals. */
export async function bootstrapWorkspace(store: Store, bootstrap: Bootstrap): Promise<Bootstrapped> {
  return inTransaction(store, async ({ sql }) => {
    const workspaceId = await ensureWorkspace(sql, bootstrap.workspace)
    const hostId = bootstrap.host ? await saveGithubHost(store, sql, bootstrap.host) : null
    if (bootstrap.provider) await saveModelProvider(store, sql, { ...bootstrap.provider, workspaceId })
    if (bootstrap.runner) await ensureRunner(sql, { ...bootstrap.runner, workspaceId })
    const userId = bootstrap.owner && hostId ? await recordUser(sql, { ...bootstrap.owner, hostId }) : null
    if (userId) await ensureMember(sql, workspaceId, userId, "owner")
    return { workspaceId, hostId, userId }
  })
}
