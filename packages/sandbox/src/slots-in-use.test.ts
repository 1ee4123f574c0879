import { expect, test } from "vitest"
import type { ProcessFacts } from "./processes.ts"
import { makeSlots } from "./slot.ts"
import { assertSlotsFree } from "./slots-in-use.ts"

const slots = makeSlots(2, { uid: 700, gatewayPort: 21_000, controlPort: 22_000 })
const runner = (uid: number, groups: number[]): ProcessFacts => ({
  pid: 9,
  parent: 1,
  group: 9,
  session: 9,
  uids: [uid, uid, uid, uid],
  groups,
  residentBytes: 0,
})

test("slots of a living runner are refused", () => {
  expect(() => assertSlotsFree(slots, 600, [runner(600, [701])])).toThrow(expect.objectContaining({ code: "boundary_unavailable" }))
})

test("a runner with other slots, and another user with the same groups, are no obstacle", () => {
  expect(() => assertSlotsFree(slots, 600, [runner(600, [800]), runner(601, [700])])).not.toThrow()
})
