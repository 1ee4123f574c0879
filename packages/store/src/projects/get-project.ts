import { GalleyError } from "@galley/contract/errors"
import { and, eq } from "drizzle-orm"
import type { Store } from "../database.ts"
import { projects } from "../schema.ts"
import { type Project, selectProjects } from "./project.ts"

/** Throws `not_found` when the workspace has no such project. */
export async function getProject(store: Store, workspaceId: string, projectId: string): Promise<Project> {
  const [project] = await selectProjects(store, and(eq(projects.workspaceId, workspaceId), eq(projects.id, projectId)))
  if (!project) throw new GalleyError("not_found", "no such project")
  return project
}
