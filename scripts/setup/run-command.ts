import { spawn } from "node:child_process"

export type CommandOptions = Readonly<{
  cwd?: string
  env?: NodeJS.ProcessEnv
  timeoutMs?: number
  /** Receives standard output as it comes. */
  onOutput?: (text: string) => void
}>

/** Runs a program to its end and returns its standard output. Rejects with the command and the tail of its messages. */
export function runCommand(command: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const { cwd, env = process.env, timeoutMs = 600_000 } = options
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: timeoutMs, killSignal: "SIGKILL" })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text
      options.onOutput?.(text)
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text
    })
    child.on("error", (cause) => reject(new Error(`${command} could not be started: ${cause.message}`, { cause })))
    child.on("close", (code, signal) => {
      if (code === 0) return resolve(stdout)
      const tail = (stderr || stdout).trim().split("\n").slice(-8).join("\n")
      reject(new Error(`${command} ended with ${signal ?? code}: ${tail}`))
    })
  })
}
