import type { Fault } from "@galley/fake-github/fault"

/** What people do to one pull request. */
export type Act =
  | Readonly<{ kind: "open"; headSha: string; draft: boolean }>
  | Readonly<{ kind: "push"; headSha: string }>
  | Readonly<{ kind: "close" | "reopen" }>
  | Readonly<{ kind: "draft"; draft: boolean }>
  | Readonly<{ kind: "edit_title"; title: string }>
  | Readonly<{ kind: "edit_base"; baseSha: string }>
  | Readonly<{ kind: "comment"; body: string }>

/** What becomes of one webhook on its way: `lost` is on GitHub's list of failed deliveries, `forgotten` is nowhere. */
export type Fate = "arrives" | "lost" | "forgotten"

/** What happens to one process. `ms` until it is started again, or goes on after SIGSTOP. */
export type Blow = Readonly<{
  target: "server" | "runner"
  /** Which of its kind, from 0. */
  which: number
  signal: "SIGKILL" | "SIGTERM" | "SIGSTOP"
  ms: number
  /** The leases that ran out meanwhile are given away before a stopped runner goes on. */
  leasesEnd: boolean
}>

export type Step =
  | Readonly<{
      kind: "act"
      /** Seconds since the story began, in GitHub's clock. */
      second: number
      number: number
      act: Act
      /** Stands for its webhook; null when GitHub sends none. */
      webhook: number | null
    }>
  /** One copy of a webhook. */
  | Readonly<{ kind: "delivery"; webhook: number; fate: Fate }>
  | Readonly<{ kind: "blow"; blow: Blow }>
  | Readonly<{ kind: "fault"; fault: Fault }>
  /** Retries and put-off tasks come due. */
  | Readonly<{ kind: "time" }>
  /** The faults are over, and every review that was asked for so far ends. */
  | Readonly<{ kind: "rest" }>

/** What must be so of one pull request when everything has come to rest. */
export type Expectation = Readonly<{
  number: number
  /** The head whose review stands in the comment; null for a pull request that is closed or a draft. */
  reviewedSha: string | null
  /** How often events asked for the review of a head. It may be published so often, and no head that is not named here. */
  asks: ReadonlyMap<string, number>
  /** People's commands: each may ask for the review of whatever head it meets. */
  commands: number
}>

/** All that one seed decides. */
export type Story = Readonly<{ seed: number; steps: readonly Step[]; expectations: readonly Expectation[] }>
