import { execFileSync } from "node:child_process"

/** A repository of empty commits in an existing, empty directory. @returns their ids, oldest first */
export function makeRepository(directory: string, commits: number): string[] {
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.test"]
  const git = (...args: string[]) => execFileSync("git", ["-C", directory, ...identity, ...args], { encoding: "utf8" }).trim()
  git("init", "--quiet", "--initial-branch=main")
  return Array.from({ length: commits }, (_, index) => {
    git("commit", "--quiet", "--allow-empty", "--message", `commit ${index}`)
    return git("rev-parse", "HEAD")
  })
}
