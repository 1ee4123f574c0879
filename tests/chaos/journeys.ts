import type { Random } from "./random.ts"
import type { Step } from "./story.ts"

/** A step and its place among the others: a step with a greater place comes later. */
export type Placed = Readonly<{ place: number; step: Step }>

const FORGOTTEN = 0.04
const LOST = 0.03
const SECOND_COPY = 0.15
const THIRD_COPY = 0.03

/** How many places a copy is late: most not at all, some so much that newer news overtakes it. */
function lateness(random: Random): number {
  if (random.chance(0.65)) return 0
  return random.chance(0.7) ? random.below(80) : random.below(300)
}

/** What the network makes of the webhook of the act at `place`: no copy, one, or more, each with its own delay. */
export function travel(random: Random, webhook: number, place: number): Placed[] {
  const copy = (fate: "arrives" | "lost" | "forgotten"): Placed => ({
    // Behind its act also when it is not late at all.
    place: place + 0.5 + lateness(random),
    step: { kind: "delivery", webhook, fate },
  })
  if (random.chance(FORGOTTEN)) return [copy("forgotten")]
  if (random.chance(LOST)) return [copy("lost")]
  const copies = [copy("arrives")]
  if (random.chance(SECOND_COPY)) copies.push(copy("arrives"))
  if (random.chance(THIRD_COPY)) copies.push(copy("arrives"))
  return copies
}
