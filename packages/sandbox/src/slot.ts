/** One engine's fixed place on a runner. One job per slot at a time; concurrency = number of slots. */
export type Slot = Readonly<{
  index: number
  /** OS user and group of the slot's engines: plain numbers, no account needed. */
  uid: number
  gid: number
  gatewayPort: number
  controlPort: number
}>

/**
 * How engines are kept apart.
 * `enforced`: own OS user, egress rules, launch wrapper. `demo`: same OS user as the runner, no egress rules; accepted only with a
 * loopback GitHub and a loopback model.
 */
export type BoundaryMode = "enforced" | "demo"

/** First ids and ports of slot 0; slot i adds i. The ports lie below the kernel's ephemeral range (32768), so nothing takes them by chance. */
export type SlotBase = Readonly<{ uid: number; gatewayPort: number; controlPort: number }>

export const defaultSlotBase: SlotBase = { uid: 64_910, gatewayPort: 21_000, controlPort: 22_000 }

/** The slots of a runner, `count` from 1 to 64. */
export function makeSlots(count: number, base: SlotBase = defaultSlotBase): Slot[] {
  return Array.from({ length: count }, (_, index) => ({
    index,
    uid: base.uid + index,
    gid: base.uid + index,
    gatewayPort: base.gatewayPort + index,
    controlPort: base.controlPort + index,
  }))
}
