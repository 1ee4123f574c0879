import type { Bench } from "../bench.ts"

export const benchQueue: Bench = async () => []
