import { GalleyError } from "@galley/contract/errors"
import { ProjectSettings } from "@galley/contract/settings"
import { defaultReviewSkill } from "@galley/prompt/default-skill"

/** Settings that the pages show and change, in the order of the form. */
export const settingFields = [
  "active",
  "reviewKind",
  "dynamicModel",
  "reviewSkill",
  "maxFindings",
  "debounceSeconds",
  "reviewDrafts",
  "reviewBotPullRequests",
] as const
export type SettingField = (typeof settingFields)[number]

/** What stands in the form's fields, as typed. */
export type SettingsValues = Readonly<{
  active: boolean
  reviewKind: string
  dynamicModel: string
  /** The effective text: the shipped skill when the project has none of its own. */
  reviewSkill: string
  maxFindings: string
  debounceSeconds: string
  reviewDrafts: boolean
  reviewBotPullRequests: boolean
}>

/** Problems by field, one sentence each. */
export type SettingsProblems = ReadonlyMap<SettingField, string>

type Changes = Readonly<Record<string, unknown>>

const sentences: Partial<Record<SettingField, string>> = {
  reviewKind: "Choose Diff Review or Dynamic Review.",
  dynamicModel: "Enter a model name of 1 to 200 characters without spaces.",
  maxFindings: "Enter a whole number from 1 to 30.",
  debounceSeconds: "Enter a whole number from 0 to 300.",
}

export function settingsValues(settings: ProjectSettings): SettingsValues {
  const { active, reviewKind, dynamicModel, reviewDrafts, reviewBotPullRequests } = settings
  return {
    active,
    reviewKind,
    dynamicModel,
    reviewSkill: settings.reviewSkill ?? defaultReviewSkill,
    maxFindings: String(settings.maxFindings),
    debounceSeconds: String(settings.debounceSeconds),
    reviewDrafts,
    reviewBotPullRequests,
  }
}

/** Reads a submitted form. Browsers leave unticked boxes out and send line breaks as CRLF. */
export function readSettingsValues(form: FormData): SettingsValues {
  const text = (name: SettingField) => {
    const value = form.get(name)
    return typeof value === "string" ? value : ""
  }
  return {
    active: form.has("active"),
    reviewKind: text("reviewKind"),
    dynamicModel: text("dynamicModel").trim(),
    reviewSkill: text("reviewSkill").replaceAll("\r\n", "\n"),
    maxFindings: text("maxFindings").trim(),
    debounceSeconds: text("debounceSeconds").trim(),
    reviewDrafts: form.has("reviewDrafts"),
    reviewBotPullRequests: form.has("reviewBotPullRequests"),
  }
}

const numberOf = (text: string): number => (/^\d{1,9}$/.test(text) ? Number(text) : Number.NaN)

/** The form's values as changes. */
export function changesOfForm(values: SettingsValues): Changes {
  return { ...values, maxFindings: numberOf(values.maxFindings), debounceSeconds: numberOf(values.debounceSeconds) }
}

/** Saving the shipped skill means to have no skill of one's own, so that the project gets the next version's. */
export function normaliseSkill(changes: Changes): Changes {
  if (typeof changes.reviewSkill !== "string") return changes
  const text = changes.reviewSkill.replaceAll("\r\n", "\n")
  return { ...changes, reviewSkill: text === defaultReviewSkill ? null : text }
}

const isField = (name: unknown): name is SettingField => settingFields.some((field) => field === name)

/** What is wrong with the changes, said in words. Throws `settings_invalid` for a setting that does not exist. */
export function findProblems({ reviewSkill, ...changes }: Changes): SettingsProblems {
  const unknown = Object.keys(changes).find((name) => !isField(name))
  if (unknown !== undefined) throw new GalleyError("settings_invalid", "there is no such setting", { details: { field: unknown } })
  const parsed = ProjectSettings.safeParse(reviewSkill === null || reviewSkill === undefined ? changes : { ...changes, reviewSkill })
  const problems = new Map<SettingField, string>()
  for (const { path, message } of parsed.error?.issues ?? []) {
    const [field] = path
    if (isField(field) && !problems.has(field)) problems.set(field, sentences[field] ?? `${message[0]?.toUpperCase()}${message.slice(1)}.`)
  }
  return problems
}
