import { GalleyError } from "@galley/contract/errors"
import type { Store } from "@galley/store/database"
import { listRunners, type RunnerSummary } from "@galley/store/runners/list-runners"
import type { RunnerChange } from "@galley/store/runners/lock-runner"
import type { PageContext } from "../page-env.ts"
import { readId } from "../request-values.ts"
import { requireRole, requireUser } from "./require-access.ts"

/** The runner in the address, of those that work for the workspace in the address. Throws `not_found`. */
export async function findRunner(store: Store, c: PageContext): Promise<RunnerSummary> {
  const id = readId(c.req.param("id") ?? "")
  const runner = (await listRunners(store, c.get("workspace").id)).find((one) => one.id === id)
  if (runner === undefined) throw new GalleyError("not_found", "no such runner")
  return runner
}

/** The runner in the address, for someone who may change it. Throws `forbidden` for others and for a shared runner, and `not_found`. */
export async function findManaged(store: Store, c: PageContext): Promise<{ runner: RunnerSummary; change: RunnerChange }> {
  requireRole(c, "admin")
  const runner = await findRunner(store, c)
  if (runner.workspaceId === null) throw new GalleyError("forbidden", "shared runners are managed from the command line")
  return { runner, change: { workspaceId: runner.workspaceId, runnerId: runner.id, actor: requireUser(c).login } }
}
