import { join } from "node:path"

/** Directories of one engine. `configHome` belongs to the runner and cannot be written by the engine; the rest lies in scratch. */
export type OpenCodeDirectories = Readonly<{
  configHome: string
  home: string
  dataHome: string
  stateHome: string
  cacheHome: string
  runtime: string
  temporary: string
}>

export function openCodeDirectories(scratch: string, runDirectory: string): OpenCodeDirectories {
  return {
    configHome: join(runDirectory, "config"),
    home: join(scratch, "home"),
    dataHome: join(scratch, "data"),
    stateHome: join(scratch, "state"),
    cacheHome: join(scratch, "cache"),
    runtime: join(scratch, "run"),
    temporary: join(scratch, "tmp"),
  }
}

/** Switches of the engine, all set to 1. They are defence in depth: what they turn off is already absent from the export or denied. */
const SWITCHES = [
  "DISABLE_AUTOUPDATE",
  "DISABLE_AUTOCOMPACT",
  "DISABLE_CLAUDE_CODE",
  "DISABLE_DEFAULT_PLUGINS",
  "DISABLE_EMBEDDED_WEB_UI",
  "DISABLE_EXTERNAL_SKILLS",
  "DISABLE_FFF",
  "DISABLE_LSP_DOWNLOAD",
  "DISABLE_MODELS_FETCH",
  "DISABLE_PROJECT_CONFIG",
  "DISABLE_PRUNE",
  "DISABLE_SHARE",
  "DISABLE_TERMINAL_TITLE",
  "EXPERIMENTAL_DISABLE_FILEWATCHER",
  "PURE",
] as const

/**
 * The engine's whole environment; nothing is inherited.
 *
 * @param password of the control server; it weighs as much as code execution, since the control API can lift the deny rules
 */
export function openCodeEnvironment(
  directories: OpenCodeDirectories,
  options: Readonly<{ ripgrepDirectory: string; password: string; config: object }>,
): Record<string, string> {
  return {
    PATH: options.ripgrepDirectory,
    LANG: "C.UTF-8",
    HOME: directories.home,
    TMPDIR: directories.temporary,
    XDG_CONFIG_HOME: directories.configHome,
    XDG_DATA_HOME: directories.dataHome,
    XDG_STATE_HOME: directories.stateHome,
    XDG_CACHE_HOME: directories.cacheHome,
    XDG_RUNTIME_DIR: directories.runtime,
    OPENCODE_DB: ":memory:",
    OPENCODE_SERVER_PASSWORD: options.password,
    OPENCODE_CONFIG_CONTENT: inertJson(options.config),
    ...Object.fromEntries(SWITCHES.map((name) => [`OPENCODE_${name}`, "1"])),
  }
}

/**
 * The engine replaces `{env:NAME}` and `{file:path}` anywhere in its configuration, also in the agent's prompt: a project's skill could
 * otherwise send the server password or a file to the model. Spelled with an escape, the text reaches the model as it was written.
 */
function inertJson(config: object): string {
  return JSON.stringify(config).replace(/\{(?=env:|file:)/g, "\\u007b")
}
