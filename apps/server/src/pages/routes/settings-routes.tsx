import { GalleyError } from "@galley/contract/errors"
import { getProject } from "@galley/store/projects/get-project"
import type { Project } from "@galley/store/projects/project"
import { updateSettings } from "@galley/store/projects/update-settings"
import { listModelProviders } from "@galley/store/providers/list-model-providers"
import { Hono } from "hono"
import { z } from "zod"
import { requireRole, requireUser } from "../access/require-access.ts"
import type { PageContext, PageEnv, PageParts } from "../page-env.ts"
import { readFormData, readId, readJsonBody, sendsJson, wantsJson } from "../request-values.ts"
import {
  changesOfForm,
  findProblems,
  normaliseSkill,
  readSettingsValues,
  type SettingsProblems,
  type SettingsValues,
  settingsValues,
} from "../settings-form.ts"
import { SettingsRequest } from "../shapes.ts"
import { page } from "../views/layout.tsx"
import { SettingsPage } from "../views/settings-page.tsx"

const Version = z.coerce.number().pipe(z.int().min(1))
const ResetRequest = z.strictObject({ version: z.int().min(1) })

/** A save as it was asked for. `values` is null for JSON callers, who get no form back. */
type WantedSave = { version: number; changes: Readonly<Record<string, unknown>>; values: SettingsValues | null }

/** What the form shows besides the project. */
type FormState = { values: SettingsValues; problems: SettingsProblems; conflict: boolean; status: 200 | 409 | 422 }

function readVersion(form: FormData): number {
  const version = Version.safeParse(form.get("version"))
  if (!version.success) throw new GalleyError("request_invalid", "the form lacks its version", { details: { field: "version" } })
  return version.data
}

async function readSave(c: PageContext): Promise<WantedSave> {
  if (sendsJson(c)) {
    const { version, changes } = await readJsonBody(c, SettingsRequest)
    return { version, changes: normaliseSkill(changes), values: null }
  }
  const form = await readFormData(c)
  const values = readSettingsValues(form)
  return { version: readVersion(form), changes: normaliseSkill(changesOfForm(values)), values }
}

/** A project's settings: what is reviewed, how, and by which skill. */
export function settingsRoutes({ context: { store } }: PageParts): Hono<PageEnv> {
  const app = new Hono<PageEnv>()
  const path = "/w/:slug/projects/:id/settings"

  const showForm = async (c: PageContext, project: Project, { status, ...state }: FormState) => {
    const providers = await listModelProviders(store, c.get("workspace").id)
    const models = [...new Set(providers.flatMap((provider) => provider.models.map(({ logical }) => logical)))]
    return c.html(page(<SettingsPage c={c} project={project} models={models} {...state} />), status)
  }
  const save = async (c: PageContext, { version, changes }: Pick<WantedSave, "version" | "changes">, done: string) => {
    const [workspace, projectId] = [c.get("workspace"), readId(c.req.param("id") ?? "")]
    const update = { workspaceId: workspace.id, projectId, version, changes, actor: requireUser(c).login }
    const saved = await updateSettings(store, update)
    return wantsJson(c) ? c.json(saved) : c.redirect(`/w/${workspace.slug}/projects/${projectId}/settings?done=${done}`, 303)
  }

  app.get(path, async (c) => {
    const project = await getProject(store, c.get("workspace").id, readId(c.req.param("id")))
    return showForm(c, project, { values: settingsValues(project.settings), problems: new Map(), conflict: false, status: 200 })
  })

  app.post(path, async (c) => {
    requireRole(c, "admin")
    const project = await getProject(store, c.get("workspace").id, readId(c.req.param("id")))
    const wanted = await readSave(c)
    const problems = findProblems(wanted.changes)
    const { values } = wanted
    if (values === null || wantsJson(c)) {
      for (const [field, message] of problems) throw new GalleyError("settings_invalid", message, { details: { field } })
      return save(c, wanted, "saved")
    }
    if (problems.size > 0) {
      // The version stays the one the form was filled from: a change made meanwhile must still be noticed.
      const shown = { ...project, settingsVersion: wanted.version }
      return showForm(c, shown, { values, problems, conflict: false, status: 422 })
    }
    try {
      return await save(c, wanted, "saved")
    } catch (error) {
      if (!(error instanceof GalleyError && error.code === "settings_conflict")) throw error
      const newest = await getProject(store, c.get("workspace").id, project.id)
      return showForm(c, newest, { values, problems, conflict: true, status: 409 })
    }
  })

  app.post(`${path}/reset-skill`, async (c) => {
    requireRole(c, "admin")
    const version = sendsJson(c) ? (await readJsonBody(c, ResetRequest)).version : readVersion(await readFormData(c))
    return save(c, { version, changes: { reviewSkill: null } }, "skill-reset")
  })
  return app
}
