import { GalleyError } from "@galley/contract/errors"
import { openStore } from "@galley/store/database"
import { assertSchema } from "@galley/store/migrate"
import type { ServerConfig } from "../config.ts"
import { slugOf } from "../start/bootstrap.ts"
import { keyRingOf } from "../start/key-ring.ts"
import { runnerCommand } from "./runner-command.ts"

/**
 * The command `runner`: its answer alone goes to standard output, so that a token can be piped where it belongs; a refusal goes to standard
 * error with its code.
 *
 * @returns the exit code: 0, 1 for a refusal, 2 for wrong arguments
 */
export async function manageRunners(config: ServerConfig, argv: readonly string[]): Promise<number> {
  try {
    for (const line of await answer(config, argv)) process.stdout.write(`${line}\n`)
    return 0
  } catch (error) {
    if (!(error instanceof GalleyError)) throw error
    process.stderr.write(`${error.code}: ${error.message}\n`)
    return error.code === "config_invalid" ? 2 : 1
  }
}

async function answer(config: ServerConfig, argv: readonly string[]): Promise<string[]> {
  await assertSchema(config.databaseUrl, config.migrationsDirectory === undefined ? {} : { directory: config.migrationsDirectory })
  const store = await openStore({
    url: config.databaseUrl,
    keyRing: keyRingOf(config.masterKeys),
    applicationName: "galley-runner-command",
    // What nobody waits for, e.g. a hint to waiting runners: they look for themselves.
    onError: (error) => void process.stderr.write(`${error}\n`),
  })
  try {
    return await runnerCommand(store, { slug: slugOf(config.workspace.name) }, argv)
  } finally {
    await store.close()
  }
}
