/** Room for the gateway to answer first when a model call runs into its time limit, in milliseconds. */
export const ENGINE_WAIT_MARGIN_MS = 30_000
/** From the launch to an engine that is ready: 1 to 5 seconds as a rule, over 30 were seen with eight times more load than cores. */
export const ENGINE_START_TIMEOUT_MS = 90_000
/** Bytes of an engine's own output that are kept, per stream. */
export const MAX_ENGINE_OUTPUT_BYTES = 64 * 1024
