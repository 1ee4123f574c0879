import { expect, test } from "vitest"
import { runSeed } from "../chaos/run-seed.ts"

const WHOLE_RUN_MS = 420_000

// F2, F6, F9, F11, F19, F33, F34, F37, R-INTAKE-13
test.each([1, 2])(
  "keeps every promise through kills, GitHub's faults and webhooks that are lost, repeated and late (seed %i)",
  async (seed) => {
    const { failures, toll } = await runSeed(seed)
    expect(failures).toEqual([])
    // Nothing is proved by a run in which nothing happened.
    expect(Math.min(toll.failedDeliveries, toll.publishedRuns)).toBeGreaterThan(0)
  },
  WHOLE_RUN_MS,
)
