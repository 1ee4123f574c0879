import { expect, test } from "vitest"
import { runnerStanding } from "./runner-standing.ts"

const now = new Date("2026-11-30T12:00:00Z")
const ready = {
  paused: false,
  lastSeenAt: new Date("2026-11-30T11:59:30Z"),
  version: "0.1.0",
  capabilities: [
    {
      kind: "diff" as const,
      engineVersion: "pr-agent 0.48.0",
      boundary: "enforced" as const,
      checkedAt: "2026-11-30T11:45:00Z",
      expiresAt: "2026-11-30T12:15:00Z",
    },
  ],
  running: 0,
}
const expired = ready.capabilities.map((capability) => ({ ...capability, expiresAt: "2026-11-30T12:00:00Z" }))

// R-FLEET-5
test("says of a runner what a person did or can mend before what follows from it", () => {
  const standing = (changes: Partial<typeof ready>) => runnerStanding({ ...ready, ...changes }, now)
  const gone = new Date("2026-11-30T11:58:00Z")

  expect(standing({})).toBe("ready")
  expect(standing({ running: 2 })).toBe("working")
  expect(standing({ running: 2, capabilities: expired })).toBe("working")
  expect(standing({ capabilities: expired })).toBe("unproven")
  expect(standing({ capabilities: [] })).toBe("unproven")
  expect(standing({ version: "0.0.9", capabilities: [] })).toBe("too_old")
  expect(standing({ lastSeenAt: gone, version: "0.0.9", running: 1 })).toBe("not_seen")
  expect(runnerStanding({ ...ready, lastSeenAt: null }, now)).toBe("never_seen")
  expect(standing({ paused: true, lastSeenAt: gone })).toBe("paused")
})
