/** One line of the report: what was measured, beside the limit and the peers, and what is asked of it. */
export type Bar = Readonly<{
  bench: string
  metric: string
  ours: number
  limit: number | null
  peers: Readonly<Record<string, number>>
  /** Median over the rounds of `ours / limit`, unless the metric says otherwise. */
  ratio: number
  /** What `ratio` has to be, e.g. `>= 0.8`. */
  bar: string
  pass: boolean
}>

/** What a ratio has to reach or stay below. */
export type Demand = Readonly<{ atLeast: number } | { atMost: number } | { above: number }>

/** Fills in the verdict. Numbers keep three significant digits or whole units, so that lines can be read. */
export function judge(facts: Omit<Bar, "bar" | "pass">, demand: Demand): Bar {
  const [bar, pass] =
    "atLeast" in demand
      ? [`>= ${demand.atLeast}`, facts.ratio >= demand.atLeast]
      : "above" in demand
        ? [`> ${demand.above}`, facts.ratio > demand.above]
        : [`<= ${demand.atMost}`, facts.ratio <= demand.atMost]
  return {
    bench: facts.bench,
    metric: facts.metric,
    ours: short(facts.ours),
    limit: facts.limit === null ? null : short(facts.limit),
    peers: Object.fromEntries(Object.entries(facts.peers).map(([name, value]) => [name, short(value)])),
    ratio: short(facts.ratio),
    bar,
    pass,
  }
}

const short = (value: number) => (Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3)))
