import type { Check } from "../check.ts"
import { endChecks } from "./end-checks.ts"
import { everyVerbChecks } from "./every-verb-checks.ts"
import { leaseChecks } from "./lease-checks.ts"
import { pollChecks } from "./poll-checks.ts"

/** Jobs of different pull requests that have to wait, so that no check is skipped. */
export const JOBS_NEEDED = 5

/** Every rule that can be seen through the protocol alone. Those that use jobs up come last. */
export const allChecks: readonly Check[] = [...everyVerbChecks, ...pollChecks, ...leaseChecks, ...endChecks]
