import { eq } from "drizzle-orm"
import type { Store } from "../database.ts"
import { projects } from "../schema.ts"
import { type Project, selectProjects } from "./project.ts"

/** All projects of a workspace by name, removed ones included. */
export async function listProjects(store: Store, workspaceId: string): Promise<Project[]> {
  return selectProjects(store, eq(projects.workspaceId, workspaceId))
}
