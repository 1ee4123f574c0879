import { timestamp } from "../state.ts"
import { readGit } from "./run-git.ts"

/** A commit as GitHub describes it; times are UTC (`...Z`). */
export type Commit = Readonly<{
  sha: string
  treeSha: string
  parents: readonly string[]
  message: string
  author: Readonly<{ name: string; email: string; date: string }>
  committer: Readonly<{ name: string; email: string; date: string }>
}>

const format = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B%x00%x01"

/** The commits of a range (`base..head`), oldest first. */
export async function readCommits(directory: string, range: string): Promise<readonly Commit[]> {
  return parse(await readGit(directory, ["log", "--topo-order", "--reverse", `--format=${format}`, range, "--"]))
}

/** One commit by its id. */
export async function readCommit(directory: string, sha: string): Promise<Commit> {
  const [commit] = parse(await readGit(directory, ["log", "-1", `--format=${format}`, sha, "--"]))
  if (!commit) throw new Error(`git shows no commit ${sha}`)
  return commit
}

/** How many commits `base` and `head` each have that the other has not. */
export async function countApart(directory: string, base: string, head: string): Promise<{ behind: number; ahead: number }> {
  const [behind = "0", ahead = "0"] = (await readGit(directory, ["rev-list", "--left-right", "--count", `${base}...${head}`])).split(/\s+/)
  return { behind: Number(behind), ahead: Number(ahead) }
}

function parse(text: string): Commit[] {
  return text
    .split("\x01")
    .map((record) => record.replace(/^\n/, "").split("\0"))
    .filter((fields) => fields.length >= 10)
    .map(([sha = "", treeSha = "", parents = "", an = "", ae = "", aI = "", cn = "", ce = "", cI = "", message = ""]) => ({
      sha,
      treeSha,
      parents: parents.split(" ").filter(Boolean),
      message: message.trimEnd(),
      author: { name: an, email: ae, date: utc(aI) },
      committer: { name: cn, email: ce, date: utc(cI) },
    }))
}

/** Git writes the author's own time zone, GitHub always UTC. */
function utc(date: string): string {
  return timestamp(Date.parse(date))
}
