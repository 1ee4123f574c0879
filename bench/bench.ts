import type { Bar } from "./measure/bar.ts"

/** How to run a benchmark. */
export type BenchOptions = Readonly<{
  /** Under a minute in all: fewer and shorter rounds, and smaller tables. */
  quick: boolean
  /** For people, on stderr: spread, CPU per operation, what was left out. */
  note: (line: string) => void
}>

/** Runs one benchmark and returns its bars. What it starts it stops. */
export type Bench = (options: BenchOptions) => Promise<Bar[]>
