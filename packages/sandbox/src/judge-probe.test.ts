import { expect, test } from "vitest"
import { judgeArrivals, judgeIdentity, judgeOutcomes, judgeRunner, refused } from "./judge-probe.ts"
import { makeSlots } from "./slot.ts"

const [slot] = makeSlots(1, { uid: 700, gatewayPort: 41_000, controlPort: 42_000 }) as [ReturnType<typeof makeSlots>[number]]

const none = "0000000000000000"
const engine = {
  Uid: "700\t700\t700\t700",
  Gid: "700\t700\t700\t700",
  Groups: "",
  CapInh: none,
  CapPrm: none,
  CapEff: none,
  CapBnd: none,
  CapAmb: none,
  NoNewPrivs: "1",
}
const four = "00000000000001e0"
const runner = { ...engine, CapInh: four, CapPrm: four, CapEff: four, CapBnd: four, CapAmb: four }

test("the slot's user without capabilities passes the identity check", () => {
  expect(judgeIdentity(slot, statusText(engine), [])).toMatchObject({ id: "P1", slot: 0, passed: true })
})

// R-BOUND-1
test.each([
  ["another effective user", { Uid: "700\t0\t700\t700" }],
  ["another group", { Gid: "0\t0\t0\t0" }],
  ["a supplementary group", { Groups: "27 " }],
  ["a capability in the bounding set", { CapBnd: "0000000000000080" }],
  ["an ambient capability", { CapAmb: "0000000000000040" }],
  ["new privileges allowed", { NoNewPrivs: "0" }],
])("the identity check refuses %s", (_, change) => {
  expect(judgeIdentity(slot, statusText({ ...engine, ...change }), [])).toMatchObject({ passed: false })
})

// R-BOUND-1
test("the identity check refuses an inherited descriptor and a status it cannot read", () => {
  expect(judgeIdentity(slot, statusText(engine), [77])).toMatchObject({ passed: false })
  expect(judgeIdentity(slot, "", [])).toMatchObject({ passed: false })
})

test("a runner with its four capabilities passes", () => {
  expect(judgeRunner(statusText(runner))).toMatchObject({ id: "N6", passed: true })
})

test.each([
  ["root", { Uid: "0\t0\t0\t0" }],
  ["CAP_NET_ADMIN", { CapEff: "00000000000011e0" }],
  ["CAP_DAC_OVERRIDE in the bounding set", { CapBnd: "00000000000001e2" }],
  ["new privileges allowed", { NoNewPrivs: "0" }],
  ["an unreadable capability set", { CapPrm: "" }],
])("the runner check refuses %s", (_, change) => {
  expect(judgeRunner(statusText({ ...runner, ...change }))).toMatchObject({ passed: false })
})

test("an outcome counts only when it is what must be, and a missing one never does", () => {
  const attempt = { operation: "resolve", name: "example.com" } as const
  const expectations = [
    refused("N4", attempt),
    refused("N4", attempt),
    { id: "P2", expect: "allowed", attempt } as const,
    refused("N4", attempt),
  ]
  expect(judgeOutcomes(slot, expectations, ["ok", "gaierror", "ok"]).map(({ passed }) => passed)).toEqual([false, true, true, false])
})

test("a canary that was reached fails the check although the probe saw an error", () => {
  const canary = (arrivals: number) =>
    ({ operation: "connect", host: "127.0.0.1", port: 1, arrivals: () => arrivals, close: () => undefined }) as const
  const checks = judgeArrivals(slot, [
    { id: "N1", expect: "refused", canary: canary(0) },
    { id: "N1", expect: "refused", canary: canary(1) },
    { id: "P2", expect: "allowed", canary: canary(0) },
  ])
  expect(checks.map(({ passed }) => passed)).toEqual([true, false, false])
})

function statusText(fields: Record<string, string>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}:\t${value}\n`)
    .join("")
}
