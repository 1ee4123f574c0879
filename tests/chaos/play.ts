import { setTimeout as delay } from "node:timers/promises"
import type { FakeGitHub, FakeGitHubOptions } from "@galley/fake-github"
import { z } from "zod"
import { type ChaosRig, repoOf } from "./chaos-rig.ts"
import { endFaults, endWork } from "./come-to-rest.ts"
import { endLeases, letTasksComeDue } from "./let-time-pass.ts"
import type { Act, Blow, Story } from "./story.ts"

type Carrier = NonNullable<FakeGitHubOptions["carry"]>
type Way = Parameters<Carrier>[1]

/** GitHub in the story's hands: its clock, and its webhooks on their way. */
export type Stage = Readonly<{
  options: Pick<FakeGitHubOptions, "now" | "carry">
  /** Lets an act happen at its second of the story, and returns the webhook that tells of it, if any. */
  at(second: number, act: () => Promise<unknown>): Promise<Way | null>
  /** Bot comments written on each pull request so far. */
  commentsWritten(number: number): number
}>

const BotComment = z.object({
  action: z.string(),
  comment: z.object({}),
  issue: z.object({ number: z.int() }),
  sender: z.object({ type: z.literal("Bot") }),
})

const BASE_REF = "main"
const BASE_SHA = "b".repeat(40)
/** Copies under way at a time. */
const LANES = 12
const REST_MS = 90_000
/** What goes out while no server is up; then GitHub's queue stands still until one is, or a whole story would be spent on one outage. */
const INTO_OUTAGE = 15

export function setStage(): Stage {
  const startedAtMs = Date.now()
  let second: number | null = null
  let posted: Way | null = null
  const written = new Map<number, number>()
  return {
    options: {
      // The story is told faster than it happens. Tokens, which have to do with the clocks of real processes, live in their time.
      now: () => (second === null ? Date.now() : startedAtMs + second * 1_000),
      carry(event, way) {
        const { data: comment } = BotComment.safeParse(event.payload)
        if (comment?.action === "created") written.set(comment.issue.number, (written.get(comment.issue.number) ?? 0) + 1)
        // Only what people do is in the story.
        if (second === null || comment !== undefined) return way.send()
        posted = way
        return Promise.resolve(null)
      },
    },
    async at(actSecond, act) {
      second = actSecond
      posted = null
      await act()
      second = null
      return posted
    },
    commentsWritten: (number) => written.get(number) ?? 0,
  }
}

/** Plays a story to its end: every act, every copy of a webhook, every blow. What still works then goes on working. */
export async function play(story: Story, stage: Stage, rig: ChaosRig): Promise<void> {
  const { github } = rig
  const webhooks = new Map<number | null, Way | null>()
  const blows: Promise<void>[] = []
  const lanes = createLanes(rig)
  for (const step of story.steps) {
    switch (step.kind) {
      case "act":
        webhooks.set(step.webhook, await stage.at(step.second, () => perform(github, step.number, step.act)))
        break
      case "delivery": {
        const way = webhooks.get(step.webhook)
        if (!way) throw new Error("GitHub sent no webhook for an act that it tells of")
        if (step.fate === "arrives") await lanes.send(way)
        if (step.fate === "lost") await way.lose()
        break
      }
      case "blow":
        blows.push(strike(rig, step.blow))
        break
      case "fault":
        github.addFault(step.fault)
        break
      case "time":
        await letTasksComeDue(rig.intake.sql)
        break
      case "rest":
        await lanes.idle()
        await Promise.all(blows)
        await endFaults(rig)
        await endWork(rig, AbortSignal.timeout(REST_MS))
        break
    }
  }
  await lanes.idle()
}

function perform(github: FakeGitHub, number: number, act: Act): Promise<unknown> {
  const name = { repo: repoOf(number), number }
  switch (act.kind) {
    case "open":
      return github.openPullRequest({
        ...name,
        baseRef: BASE_REF,
        baseSha: BASE_SHA,
        headRef: `change-${number}`,
        headSha: act.headSha,
        draft: act.draft,
      })
    case "push":
      return github.pushHead(name, act.headSha)
    case "close":
      return github.closePullRequest(name)
    case "reopen":
      return github.reopenPullRequest(name)
    case "draft":
      return github.setDraft(name, act.draft)
    case "edit_title":
      return github.editPullRequest(name, { title: act.title })
    case "edit_base":
      return github.editPullRequest(name, { baseSha: act.baseSha })
    case "comment":
      return github.writeComment({ ...name, body: act.body, authorAssociation: "MEMBER" })
  }
}

function strike({ servers, runners, intake }: ChaosRig, { target, which, leasesEnd, ...blow }: Blow): Promise<void> {
  const victim = (target === "server" ? servers : runners)[which]
  if (victim === undefined) throw new Error(`there is no ${target} ${which}`)
  return victim.strike(blow, async () => {
    if (leasesEnd) await endLeases(intake.sql)
  })
}

/** Sends a bounded number of copies at a time. */
function createLanes({ servers }: ChaosRig) {
  const underWay = new Set<Promise<unknown>>()
  let intoOutage = 0
  return {
    async send(way: Way) {
      while (underWay.size >= LANES) await Promise.race(underWay)
      const outage = servers.every((server) => server.current() === null)
      intoOutage = outage ? intoOutage + 1 : 0
      if (intoOutage > INTO_OUTAGE) await Promise.race(servers.map((server) => server.up()))
      const sending = way.send().finally(() => underWay.delete(sending))
      underWay.add(sending)
      // GitHub's queue is not one turn of an event loop.
      await delay(1)
    },
    idle: () => Promise.all(underWay),
  }
}
