import { MAX_SKILL_BYTES } from "@galley/contract/limits"
import type { Project } from "@galley/store/projects/project"
import type { Child } from "hono/jsx"
import { mayActAs } from "../access/require-access.ts"
import type { PageContext } from "../page-env.ts"
import type { SettingField, SettingsProblems, SettingsValues } from "../settings-form.ts"
import { count } from "../words.ts"
import { Layout } from "./layout.tsx"

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
            hint="As a provider of the workspace names it."
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

const problemId = (name: SettingField) => `${name}-problem`
const hintId = (name: SettingField) => `${name}-hint`

/** Attributes that tie a control to its label, hint and problem. */
function control(name: SettingField, problems: SettingsProblems) {
  const wrong = problems.has(name)
  return {
    id: name,
    name,
    "aria-invalid": wrong ? "true" : undefined,
    "aria-describedby": `${wrong ? `${problemId(name)} ` : ""}${hintId(name)}`,
  }
}

type FieldProps = { name: SettingField; label: string; hint: string; problem: string | undefined; children?: Child }

function Field({ name, label, hint, problem, children }: FieldProps) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {children}
      <Problem name={name} problem={problem} />
      <p class="hint" id={hintId(name)}>
        {hint}
      </p>
    </div>
  )
}

function Problem({ name, problem }: { name: SettingField; problem: string | undefined }) {
  return problem === undefined ? null : (
    <p class="problem" id={problemId(name)}>
      {problem}
    </p>
  )
}

function Check({ name, label, checked, hint }: { name: SettingField; label: string; checked: boolean; hint?: string }) {
  return (
    <div class="field check">
      <input type="checkbox" id={name} name={name} checked={checked} aria-describedby={hint === undefined ? undefined : hintId(name)} />
      <label for={name}>{label}</label>
      {hint === undefined ? null : (
        <p class="hint" id={hintId(name)}>
          {hint}
        </p>
      )}
    </div>
  )
}

const kinds = [
  { value: "diff", label: "Diff Review", hint: "PR-Agent reads the change itself. Quick, and cheap in tokens." },
  {
    value: "dynamic",
    label: "Dynamic Review",
    hint: "An agent explores the checked-out head, read-only. It finds what only the code around the change shows, and costs more tokens.",
  },
] as const

function Kinds({ value, problem }: { value: string; problem: string | undefined }) {
  return (
    <fieldset class="field kinds" aria-describedby={problem === undefined ? "kind-note" : `${problemId("reviewKind")} kind-note`}>
      <legend>Review kind</legend>
      {kinds.map((kind) => (
        <div class="choice">
          <input
            type="radio"
            id={`kind-${kind.value}`}
            name="reviewKind"
            value={kind.value}
            checked={value === kind.value}
            aria-describedby={`kind-${kind.value}-hint`}
          />
          <label for={`kind-${kind.value}`}>{kind.label}</label>
          <p class="hint" id={`kind-${kind.value}-hint`}>
            {kind.hint}
          </p>
        </div>
      ))}
      <Problem name="reviewKind" problem={problem} />
      <p class="hint" id="kind-note">
        Changing the kind cancels waiting jobs. Running reviews finish, and findings are kept.
      </p>
    </fieldset>
  )
}

function Skill({ values, problem, isShipped }: { values: SettingsValues; problem: string | undefined; isShipped: boolean }) {
  const bytes = new TextEncoder().encode(values.reviewSkill).length
  const describedBy = `${problem === undefined ? "" : `${problemId("reviewSkill")} `}${hintId("reviewSkill")} skill-bytes`
  return (
    <div class="field">
      <label for="reviewSkill">Review skill</label>
      <textarea
        id="reviewSkill"
        name="reviewSkill"
        rows={18}
        spellcheck={false}
        data-max-bytes={MAX_SKILL_BYTES}
        aria-invalid={problem === undefined ? undefined : "true"}
        aria-describedby={describedBy}
      >
        {/* The parser drops one line break at the start of a textarea. */}
        {`\n${values.reviewSkill}`}
      </textarea>
      <Problem name="reviewSkill" problem={problem} />
      <p class="hint" id={hintId("reviewSkill")}>
        {isShipped ? "This is the shipped skill." : "This project has its own skill."} It says what counts as a finding; it cannot change
        tools, limits or the format of the result.
      </p>
      <div class="under">
        <p class="hint" id="skill-bytes">
          <output for="reviewSkill" data-bytes-of="reviewSkill">
            {count(bytes)}
          </output>{" "}
          of {count(MAX_SKILL_BYTES)} bytes
        </p>
        <button type="submit" form="reset-skill" class="quiet" disabled={isShipped}>
          Reset to default
        </button>
      </div>
    </div>
  )
}
