import { MAX_SKILL_BYTES } from "@galley/contract/limits"
import type { Child } from "hono/jsx"
import type { SettingField, SettingsProblems, SettingsValues } from "../settings-form.ts"
import { count } from "../words.ts"

const problemId = (name: SettingField) => `${name}-problem`
const hintId = (name: SettingField) => `${name}-hint`

/** Attributes that tie a control to its label, hint and problem. */
export function control(name: SettingField, problems: SettingsProblems) {
  const wrong = problems.has(name)
  return {
    id: name,
    name,
    "aria-invalid": wrong ? "true" : undefined,
    "aria-describedby": `${wrong ? `${problemId(name)} ` : ""}${hintId(name)}`,
  }
}

type FieldProps = { name: SettingField; label: string; hint: string; problem: string | undefined; children?: Child }

export function Field({ name, label, hint, problem, children }: FieldProps) {
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

export function Check({ name, label, checked, hint }: { name: SettingField; label: string; checked: boolean; hint?: string }) {
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

export function Kinds({ value, problem }: { value: string; problem: string | undefined }) {
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

export function Skill({ values, problem, isShipped }: { values: SettingsValues; problem: string | undefined; isShipped: boolean }) {
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
