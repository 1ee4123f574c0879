import type { Random } from "./random.ts"
import type { Act, Expectation } from "./story.ts"

/** One act and when it happens. */
export type Moment = Readonly<{
  /** Seconds since the story began. */
  second: number
  number: number
  act: Act
  /** GitHub tells of it. */
  announced: boolean
  /** The next act happens in the same second, and is reviewed before this one's webhook comes. */
  toldLast: boolean
}>

type Standing = Readonly<{ open: boolean; draft: boolean; headSha: string }>

const FEWEST_ACTS = 32
const MOST_ACTS = 40
const SAME_SECOND = 0.12
/** Pull requests that end with two pushes in one second, of which the first is told last. */
const TWIN_PUSHES = 0.4
const COMMAND = "/review"

/** As often as they happen to an open pull request. */
const everydayActs = ["push", "push", "push", "push", "push", "comment", "comment", "close", "draft", "edit_title", "edit_base"] as const

const unborn: Standing = { open: false, draft: false, headSha: "" }

/** What a pull request is after an act. */
function after(standing: Standing, act: Act): Standing {
  if (act.kind === "open") return { open: true, draft: act.draft, headSha: act.headSha }
  if (act.kind === "push") return { ...standing, headSha: act.headSha }
  if (act.kind === "draft") return { ...standing, draft: act.draft }
  if (act.kind === "close" || act.kind === "reopen") return { ...standing, open: act.kind === "reopen" }
  return standing
}

/** The kinds of act that ask for a review of a pull request that is open and no draft. */
const asking: readonly Act["kind"][] = ["open", "push", "reopen", "draft", "edit_base"]

const isReviewable = ({ open, draft }: Standing) => open && !draft

/** What the acts of one pull request must have led to. */
export function expectationOf(number: number, acts: readonly Act[]): Expectation {
  const asks = new Map<string, number>()
  let standing = unborn
  for (const act of acts) {
    standing = after(standing, act)
    if (asking.includes(act.kind) && isReviewable(standing)) asks.set(standing.headSha, (asks.get(standing.headSha) ?? 0) + 1)
  }
  const commands = acts.filter((act) => act.kind === "comment" && act.body === COMMAND).length
  return { number, reviewedSha: isReviewable(standing) ? standing.headSha : null, asks, commands }
}

/** A pull request from its opening to its end. Some of its acts share a second, which GitHub's `updated_at` does not tell apart. */
export function liveOn(random: Random, number: number): Moment[] {
  const moments: Moment[] = []
  let second = random.below(20)
  let standing = unborn
  const happens = (act: Act, toldLast = false) => {
    const announced = act.kind !== "push" || standing.open
    standing = after(standing, act)
    moments.push({ second, number, act, announced, toldLast })
    second += toldLast || random.chance(SAME_SECOND) ? 0 : 1 + random.below(3)
  }
  happens({ kind: "open", headSha: random.sha(), draft: random.chance(0.2) })
  const commands = random.chance(0.3)
  const acts = FEWEST_ACTS + random.below(MOST_ACTS - FEWEST_ACTS)
  while (moments.length < acts) happens(nextAct(random, standing, commands))
  for (const act of lastActs(random, standing)) happens(act)
  if (isReviewable(standing) && random.chance(TWIN_PUSHES)) {
    happens({ kind: "push", headSha: random.sha() }, true)
    happens({ kind: "push", headSha: random.sha() })
  }
  return moments
}

function nextAct(random: Random, { open, draft }: Standing, commands: boolean): Act {
  if (!open) return random.chance(0.7) ? { kind: "reopen" } : { kind: "push", headSha: random.sha() }
  if (draft && random.chance(0.4)) return { kind: "draft", draft: false }
  const kind = random.pick(everydayActs)
  switch (kind) {
    case "push":
      return { kind, headSha: random.sha() }
    case "close":
      return { kind }
    case "draft":
      return { kind, draft: !draft }
    case "edit_title":
      return { kind, title: `Title ${random.below(1_000)}` }
    case "edit_base":
      return { kind, baseSha: random.sha() }
    case "comment":
      return { kind, body: commands && random.chance(0.5) ? COMMAND : "Looks good" }
  }
}

/** Two of three pull requests end open and ready for review. */
function lastActs(random: Random, standing: Standing): Act[] {
  const end = random.pick(["ready", "ready", "ready", "ready", "closed", "draft"])
  if (end === "closed") return standing.open ? [{ kind: "close" }] : []
  const reopen: Act[] = standing.open ? [] : [{ kind: "reopen" }]
  const draft = end === "draft"
  return standing.draft === draft ? reopen : [...reopen, { kind: "draft", draft }]
}
