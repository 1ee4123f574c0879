import { expect, test } from "vitest"
import { asRunner } from "./drop.ts"
import { makeSlots } from "./slot.ts"

test("the runner is started without root, with the slots' groups and its four capabilities only", () => {
  const argv = asRunner(["/opt/node", "runner.mjs"], makeSlots(2, { uid: 700, gatewayPort: 1, controlPort: 2 }), 600)
  const capabilities = "-all,+setuid,+setgid,+setpcap,+kill"
  expect(argv).toEqual([
    "setpriv",
    "--reuid=600",
    "--regid=600",
    "--groups=700,701",
    `--inh-caps=${capabilities}`,
    `--ambient-caps=${capabilities}`,
    `--bounding-set=${capabilities}`,
    "--no-new-privs",
    "--pdeathsig=TERM",
    "--",
    "/opt/node",
    "runner.mjs",
  ])
})
