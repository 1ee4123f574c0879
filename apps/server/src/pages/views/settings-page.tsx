import type { Project } from "@galley/store/projects/project"
import { mayActAs } from "../access/require-access.ts"
import type { PageContext } from "../page-env.ts"
import type { SettingsProblems, SettingsValues } from "../settings-form.ts"
import { Layout } from "./layout.tsx"
import { Check, control, Field, Kinds, Skill } from "./settings-fields.tsx"

type Props = {
  c: PageContext
  project: Project
  /** Logical models that the workspace's providers offer. */
  models: readonly string[]
  values: SettingsValues
  problems: SettingsProblems
  /** Somebody else saved meanwhile; the form holds the values that were not saved. */
  conflict: boolean
}

export function SettingsPage({ c, project, models, values, problems, conflict }: Props) {
  const { slug, role } = c.get("workspace")
  const here = `/w/${slug}/projects/${project.id}/settings`
  const readOnly = !mayActAs(role, "admin")
  return (
    <Layout c={c} title={`Settings of ${project.owner}/${project.name}`} section="projects">
      <p class="crumbs">
        <a href={`/w/${slug}/projects/${project.id}`}>
          {project.owner}/{project.name}
        </a>
      </p>
      <h1>Settings</h1>
      <Notices here={here} readOnly={readOnly} conflict={conflict} problems={problems} />
      <form method="post" action={here} class="settings" novalidate>
        <input type="hidden" name="version" value={project.settingsVersion} />
        <fieldset disabled={readOnly} class="plain">
          <legend class="hidden">Settings</legend>
          <Check
            name="active"
            checked={values.active}
            label="Review pull requests"
            hint="Off: waiting jobs are cancelled, and nothing new is queued."
          />
          <Kinds value={values.reviewKind} problem={problems.get("reviewKind")} />
          <Skill values={values} problem={problems.get("reviewSkill")} isShipped={project.settings.reviewSkill === undefined} />
          <Field
            name="dynamicModel"
            label="Model of Dynamic Reviews"
            problem={problems.get("dynamicModel")}
            hint={
              models.includes(values.dynamicModel)
                ? "As a provider of the workspace names it."
                : "No provider of the workspace has this model: Dynamic Reviews fail until one does."
            }
          >
            <input {...control("dynamicModel", problems)} value={values.dynamicModel} list="models" spellcheck={false} autocomplete="off" />
            <datalist id="models">
              {models.map((model) => (
                <option value={model}></option>
              ))}
            </datalist>
          </Field>
          <div class="pair">
            <Field
              name="maxFindings"
              label="Most findings"
              problem={problems.get("maxFindings")}
              hint="New findings a review may report, 1 to 30."
            >
              <input {...control("maxFindings", problems)} type="number" min={1} max={30} value={values.maxFindings} />
            </Field>
            <Field
              name="debounceSeconds"
              label="Wait after a push (seconds)"
              problem={problems.get("debounceSeconds")}
              hint="A burst of pushes becomes one review, 0 to 300."
            >
              <input {...control("debounceSeconds", problems)} type="number" min={0} max={300} value={values.debounceSeconds} />
            </Field>
          </div>
          <Check name="reviewDrafts" checked={values.reviewDrafts} label="Review drafts too" />
          <Check name="reviewBotPullRequests" checked={values.reviewBotPullRequests} label="Review pull requests that bots open" />
          <div class="actions">
            <button type="submit" class="primary">
              Save settings
            </button>
          </div>
        </fieldset>
      </form>
      {/* A form of its own, so that Enter in a field saves and never resets. Its button stands beside the skill. */}
      <form id="reset-skill" method="post" action={`${here}/reset-skill`}>
        <input type="hidden" name="version" value={project.settingsVersion} />
      </form>
    </Layout>
  )
}

function Notices({ here, readOnly, conflict, problems }: { here: string; readOnly: boolean } & Pick<Props, "conflict" | "problems">) {
  return (
    <>
      {readOnly ? <p class="notice">Only admins and owners of the workspace may change settings.</p> : null}
      {conflict ? (
        <p class="notice bad" role="alert">
          Somebody else saved these settings meanwhile, so yours are not saved. Saving again replaces theirs.{" "}
          <a href={here}>See what is saved now</a>
        </p>
      ) : null}
      {problems.size > 0 ? (
        <p class="notice bad" role="alert">
          Nothing was saved. {[...problems.keys()].length === 1 ? "One field needs" : "Some fields need"} another value.
        </p>
      ) : null}
    </>
  )
}
