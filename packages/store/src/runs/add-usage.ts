import { noUsage, type Usage } from "@galley/contract/usage"

/** Sums the usage of several runs. The cost is null as soon as one run with model calls has no known price. */
export function addUsage(parts: readonly Partial<Usage>[]): Usage {
  const sum = { ...noUsage }
  let costUsd: number | null = 0
  for (const part of parts) {
    const usage = { ...noUsage, ...part }
    sum.modelCalls += usage.modelCalls
    sum.inputTokens += usage.inputTokens
    sum.outputTokens += usage.outputTokens
    sum.toolCalls += usage.toolCalls
    sum.toolFiles += usage.toolFiles
    sum.toolResultBytes += usage.toolResultBytes
    if (usage.costUsd !== null) costUsd = costUsd === null ? null : costUsd + usage.costUsd
    else if (usage.modelCalls > 0) costUsd = null
  }
  return { ...sum, costUsd: sum.modelCalls === 0 ? null : costUsd }
}
