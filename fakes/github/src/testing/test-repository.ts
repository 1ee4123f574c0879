import { execFile } from "node:child_process"
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"

const run = promisify(execFile)

/** A repository on disk for one test file. */
export type TestRepository = Readonly<{
  directory: string
  base: string
  /** Two commits over `base`: an edit, a rename, an addition, a removal, a binary file, a symlink, a changed type. */
  head: string
  headParent: string
  /** One commit over `head` with 35 new files. */
  wide: string
  /** A commit without common history. */
  orphan: string
  git(...args: string[]): Promise<string>
  remove(): Promise<void>
}>

const identity = {
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.test",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.test",
}

/** Runs git with nobody's configuration and returns its output. */
export async function git(directory: string, ...args: string[]): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1", GIT_TERMINAL_PROMPT: "0", ...identity }
  const { stdout } = await run("git", ["-C", directory, ...args], { env })
  return stdout.trim()
}

export async function createTestRepository(): Promise<TestRepository> {
  const directory = await mkdtemp(join(tmpdir(), "fake-github-repository-"))
  const here = (...args: string[]) => git(directory, ...args)
  const write = async (path: string, text: string | Buffer) => {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), text)
  }
  const commit = async (message: string) => {
    await here("add", "--all")
    await here("commit", "--quiet", "--message", message)
    return await here("rev-parse", "HEAD")
  }
  await here("init", "--quiet", "--initial-branch=main")
  await write("src/app.py", "one = 1\ntwo = 2\n")
  await write("old name.txt", "a text that keeps its content\nwhen it moves\n")
  await write("gone.txt", "gone\n")
  await write("kind", "soon a link\n")
  await write("a dir/ü #?.txt", "odd path\n")
  const base = await commit("Start")
  await here("checkout", "--quiet", "-b", "feature")
  await write("src/app.py", "one = 1\ntwo = 3\ndiff --git a/x b/x\n")
  await here("mv", "old name.txt", "new name.txt")
  const headParent = await commit("Change one\n\nWith a body")
  await write("data.bin", Buffer.from([0, 1, 2, 0]))
  await write("src/new.ts", "export const a = 1\n")
  await here("rm", "--quiet", "gone.txt", "kind")
  await symlink("src/app.py", join(directory, "kind"))
  const head = await commit("Change two")
  await here("checkout", "--quiet", "-b", "wide")
  for (let n = 0; n < 35; n++) await write(`many/file-${String(n).padStart(2, "0")}.txt`, `${n}\n`)
  const wide = await commit("Many files")
  await here("checkout", "--quiet", "--orphan", "alone")
  const orphan = await commit("Alone")
  await here("checkout", "--quiet", "main")
  return { directory, base, head, headParent, wide, orphan, git: here, remove: () => rm(directory, { recursive: true, force: true }) }
}
