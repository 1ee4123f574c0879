import { spawnSync } from "node:child_process"
import { join } from "node:path"

/** Content of one entry: text, bytes, or a full `[mode, content]`; a submodule's content is its commit id. */
export type Entry = string | Buffer | readonly [mode: string, content: string | Buffer]
export type Files = Readonly<Record<string, Entry>>

/** A bare repository made by hand: trees are written raw, so that any name and mode is possible. */
export type TestRepository = Readonly<{
  name: string
  git(args: readonly string[], input?: string | Buffer): string
  /** Writes a commit and answers its id. Commits one minute apart: `minute` sets the date. */
  commit(files: Files, parents?: readonly string[], options?: Readonly<{ minute?: number; message?: string }>): string
  /** Writes a line of commits on top of `from`, all with its tree and one minute apart; answers the last one's id. */
  chain(from: string, count: number, minute: number): string
  /** Points `refs/heads/main` at the base and `refs/pull/1/head` at the head. */
  publish(base: string, head: string): void
}>

export function createTestRepository(root: string, name: string, objectFormat = "sha1"): TestRepository {
  const directory = join(root, name)
  const git = (args: readonly string[], input: string | Buffer = "", dates: Readonly<Record<string, string>> = {}): string => {
    const env = {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: "/nonexistent",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_AUTHOR_NAME: "A",
      GIT_AUTHOR_EMAIL: "a@example.invalid",
      GIT_COMMITTER_NAME: "A",
      GIT_COMMITTER_EMAIL: "a@example.invalid",
      ...dates,
    }
    const result = spawnSync("git", [`--git-dir=${directory}`, ...args], { input, env, maxBuffer: 2 ** 28 })
    if (result.status !== 0) throw new Error(`git ${args.join(" ")}: ${result.stderr}`)
    return result.stdout.toString().trim()
  }
  git(["init", "-q", "--bare", "--template=", "--initial-branch=main", `--object-format=${objectFormat}`])
  for (const key of ["uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"]) git(["config", key, "true"])
  return {
    name,
    git,
    commit(files, parents = [], { minute = 0, message = "case" } = {}) {
      const date = `${seconds(minute)} +0000`
      const args = ["commit-tree", writeTree(git, files), ...parents.flatMap((parent) => ["-p", parent])]
      return git(args, message, { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date })
    },
    chain(from, count, minute) {
      const step = (index: number): string =>
        `commit refs/kept/chain\nmark :${index + 1}\ncommitter A <a@example.invalid> ${seconds(minute + index)} +0000\ndata 1\nc\nfrom ${index === 0 ? from : `:${index}`}\n\n`
      return git(
        ["fast-import", "--quiet", "--force"],
        `${Array.from({ length: count }, (_, index) => step(index)).join("")}get-mark :${count}\n`,
      )
    },
    publish(base, head) {
      git(["update-ref", "refs/heads/main", base])
      git(["update-ref", "refs/pull/1/head", head])
    },
  }
}

function seconds(minute: number): number {
  return 1_700_000_000 + minute * 60
}

function writeTree(git: TestRepository["git"], files: Files): string {
  const rows: { mode: string; name: string; oid: string }[] = []
  const folders = new Map<string, Record<string, Entry>>()
  for (const [path, entry] of Object.entries(files)) {
    const slash = path.indexOf("/")
    if (slash > 0) {
      const folder = folders.get(path.slice(0, slash)) ?? {}
      folder[path.slice(slash + 1)] = entry
      folders.set(path.slice(0, slash), folder)
      continue
    }
    const [mode, content] = typeof entry === "string" || Buffer.isBuffer(entry) ? ["100644", entry] : entry
    rows.push({ mode, name: path, oid: mode === "160000" ? String(content) : git(["hash-object", "-w", "--stdin"], content) })
  }
  for (const [name, inside] of folders) rows.push({ mode: "40000", name, oid: writeTree(git, inside) })
  const key = (row: { mode: string; name: string }): Buffer => Buffer.from(row.mode === "40000" ? `${row.name}/` : row.name)
  rows.sort((one, other) => Buffer.compare(key(one), key(other)))
  const raw = Buffer.concat(rows.flatMap((row) => [Buffer.from(`${row.mode} ${row.name}\0`), Buffer.from(row.oid, "hex")]))
  return git(["hash-object", "-t", "tree", "-w", "--literally", "--stdin"], raw)
}
