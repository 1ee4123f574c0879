import { ModelName } from "@galley/contract/settings"
import { z } from "zod"

/** One logical model of a provider: what projects call it, what the provider calls it, its limits in tokens, and its price if known. */
export const ProviderModel = z.strictObject({
  logical: ModelName,
  upstream: ModelName,
  contextTokens: z.int().min(1_000),
  outputTokens: z.int().min(100),
  /** USD per million tokens. */
  price: z.strictObject({ input: z.number().min(0), output: z.number().min(0) }).nullable(),
})
export type ProviderModel = z.infer<typeof ProviderModel>
