import { ProjectSettings } from "@galley/contract/settings"
import { asc, type SQL } from "drizzle-orm"
import type { Store } from "../database.ts"
import { projects } from "../schema.ts"

/** A project with its settings parsed and defaults filled in. */
export interface Project extends Omit<typeof projects.$inferSelect, "settings"> {
  settings: ProjectSettings
}

/** Projects by name. */
export async function selectProjects({ db }: Store, where: SQL | undefined): Promise<Project[]> {
  const rows = await db.select().from(projects).where(where).orderBy(asc(projects.owner), asc(projects.name))
  return rows.map((row) => ({ ...row, settings: ProjectSettings.parse(row.settings) }))
}
