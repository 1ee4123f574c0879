import { GalleyError } from "@galley/contract/errors"
import { expect, test } from "vitest"
import { egressRules, egressTable, loadEgressRules } from "./egress-rules.ts"
import { makeSlots } from "./slot.ts"

const slots = makeSlots(2, { uid: 700, gatewayPort: 41_000, controlPort: 42_000 })

test("the egress table is the product's own and named by its first slot user", () => {
  expect(egressTable(slots)).toBe("galley_egress_700")
  expect(egressRules(slots).match(/table \w+ \w+/g)).toEqual(Array(3).fill("table inet galley_egress_700"))
})

// R-BOUND-2
test("every slot user is sent to a chain that allows its own gateway and answers of its control port only", () => {
  const rules = egressRules(slots)
  expect(rules).toContain("meta skuid 700 goto slot_0")
  expect(rules).toContain("meta skuid 701 goto slot_1")
  expect(chain(rules, "slot_1")).toEqual([
    'oifname "lo" ip saddr 127.0.0.1 ip daddr 127.0.0.1 tcp dport 41001 accept',
    'oifname "lo" ip saddr 127.0.0.1 ip daddr 127.0.0.1 tcp sport 42001 tcp flags & (syn | ack) != syn accept',
    "meta l4proto tcp reject with tcp reset",
    "reject with icmpx admin-prohibited",
  ])
})

test("egress rules need no connection tracking", () => {
  expect(egressRules(slots)).not.toMatch(/\bct\b/)
})

test("a runner without slots cannot load egress rules", async () => {
  const error = await loadEgressRules([]).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(GalleyError)
  expect(error).toMatchObject({ code: "boundary_unavailable" })
})

function chain(rules: string, name: string): string[] {
  const body = rules.split(`chain ${name} {`)[1]?.split("}")[0] ?? ""
  return body.split("\n").flatMap((line) => line.trim() || [])
}
