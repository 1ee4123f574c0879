/**
 * `make bench [ONLY=intake,queue] [QUICK=1] [FORCE=1]`: each benchmark runs Galley, a peer and the physical limit in turns and prints one JSON
 * line per bar. Exit status 1 when a bar was missed, 2 when the machine is too busy to judge or the call was wrong.
 */
import { loadavg } from "node:os"
import type { Bench } from "./bench.ts"
import { benchIntake } from "./intake/bench-intake.ts"
import { benchQueue } from "./queue/bench-queue.ts"

const MAX_LOAD = 2

const benches: Readonly<Record<string, Bench>> = { intake: benchIntake, queue: benchQueue }

const say = (line: string) => process.stderr.write(`${line}\n`)
const isSet = (name: string) => ![undefined, "", "0"].includes(process.env[name])

async function main(): Promise<number> {
  const wanted = process.env.ONLY ? process.env.ONLY.split(",") : Object.keys(benches)
  const unknown = wanted.filter((name) => benches[name] === undefined)
  if (unknown.length > 0) {
    say(`bench: there is no benchmark ${unknown.join(", ")}; there are ${Object.keys(benches).join(", ")}`)
    return 2
  }
  const [load = 0] = loadavg()
  if (load > MAX_LOAD && !isSet("FORCE")) {
    say(`bench: the load average is ${load.toFixed(1)}, above ${MAX_LOAD}: ratios would not be worth reading. Wait, or set FORCE=1`)
    return 2
  }
  let missed = 0
  for (const name of wanted) {
    say(`${name}: load average ${loadavg()[0]?.toFixed(1)} at the start`)
    const bars = (await benches[name]?.({ quick: isSet("QUICK"), note: (line) => say(`${name}: ${line}`) })) ?? []
    for (const bar of bars) process.stdout.write(`${JSON.stringify(bar)}\n`)
    missed += bars.filter((bar) => !bar.pass).length
    say(`${name}: load average ${loadavg()[0]?.toFixed(1)} at the end`)
  }
  return missed === 0 ? 0 : 1
}

process.exitCode = await main()
