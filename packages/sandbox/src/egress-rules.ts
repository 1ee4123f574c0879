import { GalleyError } from "@galley/contract/errors"
import { requireProgram, runProgram } from "./run-program.ts"
import type { Slot } from "./slot.ts"

/** One table per runner, named by its first slot user, so that two runners on one host do not replace each other's rules. */
export function egressTable(slots: readonly Slot[]): string {
  return `galley_egress_${slots[0]?.uid ?? 0}`
}

/**
 * The rules as text for `nft -f`. Pure. Loading them again replaces the table in one step and touches no other one.
 *
 * Each slot's user reaches its own gateway on 127.0.0.1 and may answer on its control port; everything else of IPv4 and IPv6 is
 * refused at once. Stateless, so no connection tracking is needed. The priority is before Docker's address translation (-100),
 * which would otherwise turn a query to Docker's DNS into an allowed address.
 */
export function egressRules(slots: readonly Slot[]): string {
  const table = egressTable(slots)
  return `table inet ${table}
delete table inet ${table}
table inet ${table} {
  chain output {
    type filter hook output priority -150; policy accept;
${slots.map((slot) => `    meta skuid ${slot.uid} goto slot_${slot.index}`).join("\n")}
  }
${slots.map(slotChain).join("\n")}
}
`
}

/** TCP is answered with a reset: with an ICMP answer alone an IPv6 connect hangs for a second. */
function slotChain(slot: Slot): string {
  const loopback = `oifname "lo" ip saddr 127.0.0.1 ip daddr 127.0.0.1`
  return `  chain slot_${slot.index} {
    ${loopback} tcp dport ${slot.gatewayPort} accept
    ${loopback} tcp sport ${slot.controlPort} tcp flags & (syn | ack) != syn accept
    meta l4proto tcp reject with tcp reset
    reject with icmpx admin-prohibited
  }`
}

/** Loads the table; needs CAP_NET_ADMIN. Throws `boundary_unavailable` when the kernel or the caller cannot. */
export async function loadEgressRules(slots: readonly Slot[], signal?: AbortSignal): Promise<void> {
  if (slots.length === 0) throw new GalleyError("boundary_unavailable", "a runner without slots has no rules")
  await requireProgram("nft", ["-f", "-"], { input: egressRules(slots), ...(signal && { signal }) })
}

/** Removes the table if it is there. */
export async function removeEgressRules(slots: readonly Slot[]): Promise<void> {
  const table = egressTable(slots)
  await requireProgram("nft", ["-f", "-"], { input: `table inet ${table}\ndelete table inet ${table}\n` })
}

/** Whether the table is loaded; needs CAP_NET_ADMIN. Throws `boundary_unavailable` when that cannot be seen. */
export async function egressRulesLoaded(slots: readonly Slot[]): Promise<boolean> {
  const { code, stderr } = await runProgram("nft", ["list", "table", "inet", egressTable(slots)])
  if (code !== 0 && !stderr.includes("No such file or directory"))
    throw new GalleyError("boundary_unavailable", `the egress rules cannot be read: ${stderr.trim().slice(0, 300)}`)
  return code === 0
}
