/** Room for the gateway to answer first when a model call runs into its time limit, in milliseconds. */
export const ENGINE_WAIT_MARGIN_MS = 30_000
/** From the launch to an engine that is ready; a loaded machine was seen to need 6 seconds. */
export const ENGINE_START_TIMEOUT_MS = 30_000
/** Bytes of an engine's own output that are kept, per stream. */
export const MAX_ENGINE_OUTPUT_BYTES = 64 * 1024
