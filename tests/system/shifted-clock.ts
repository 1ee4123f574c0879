/**
 * An argument for node that lets a program's `Date` be wrong by so many hours; SIGUSR2 lets it jump to the other side of the right time.
 * Timers and monotonic time are left alone.
 */
export function shiftedClock(hours: number): string {
  return `--import=data:text/javascript,${encodeURIComponent(`(${shift})(${hours * 3_600_000})`)}`
}

/** Runs in the program: it sees nothing of this file. */
function shift(aheadMs: number): void {
  let shiftMs = aheadMs
  const rightNow = Date.now
  const now = () => rightNow() + shiftMs
  globalThis.Date = new Proxy(Date, {
    construct: (real, given, target) => Reflect.construct(real, given.length === 0 ? [now()] : given, target),
    get: (real, key) => (key === "now" ? now : Reflect.get(real, key)),
  })
  process.on("SIGUSR2", () => {
    shiftMs = -shiftMs
  })
}
