import { runnerCommand } from "@galley/server/runner-command"
import { listAudit } from "@galley/store/audit/list-audit"
import { authenticateRunner } from "@galley/store/runners/authenticate-runner"
import { bootstrapWorkspace } from "@galley/store/workspaces/bootstrap-workspace"
import { expect, test } from "vitest"
import { freshStore } from "./store-fixture.ts"

/** The command on a database with the workspace of the environment, its runner, and one other workspace. */
async function commandLine() {
  const store = await freshStore()
  const { workspaceId } = await bootstrapWorkspace(store, {
    workspace: { slug: "acme", name: "Acme" },
    runner: { name: "default", token: "a token from the environment" },
  })
  await bootstrapWorkspace(store, { workspace: { slug: "other", name: "Other" } })
  const run = (...argv: string[]) => runnerCommand(store, { slug: "acme" }, argv)
  const list = async () => (await run("list")).map((line): Record<string, unknown> => JSON.parse(line))
  return { store, workspaceId, run, list }
}

// R-FLEET-2
test("registers runners of a workspace and shared ones, and prints each token alone and once", async () => {
  const { store, workspaceId, run, list } = await commandLine()

  const [own, theirs, shared] = [
    await run("register", "build-1"),
    await run("register", "build-1", "--workspace", "other"),
    await run("register", "build-1", "--shared"),
  ]

  for (const lines of [own, theirs, shared]) expect(lines).toEqual([expect.stringMatching(/^galley_runner_[\w-]{43}$/)])
  expect(await authenticateRunner(store, own[0] ?? "")).toMatchObject({ workspaceId, name: "build-1" })
  expect(await authenticateRunner(store, shared[0] ?? "")).toMatchObject({ workspaceId: null })
  const listed = await list()
  expect(listed.map(({ workspace, name }) => [workspace, name])).toEqual([
    [null, "build-1"],
    ["acme", "build-1"],
    ["acme", "default"],
    ["other", "build-1"],
  ])
  for (const [token = ""] of [own, theirs, shared]) expect(JSON.stringify(listed)).not.toContain(token)
  expect((await listAudit(store, workspaceId))[0]).toMatchObject({ action: "runner.register", actor: "command line" })
})

// R-FLEET-2
test("rotates, revokes, pauses, resumes and removes a shared runner, which no page may", async () => {
  const { store, run, list } = await commandLine()
  const [first = ""] = await run("register", "pool", "--shared")
  const pool = async () => (await list()).find(({ name }) => name === "pool")

  const [second = ""] = await run("rotate", "pool", "--shared", "--overlap-hours", "2")
  expect(await authenticateRunner(store, first)).toMatchObject({ usesOldToken: true })
  expect(await pool()).toMatchObject({ oldTokenUntil: expect.any(String) })
  expect(await run("revoke", "pool", "--shared")).toEqual([])
  await expect(authenticateRunner(store, first)).rejects.toMatchObject({ code: "runner_unauthorized" })
  await run("pause", "pool", "--shared", "--note", "a new disk")
  expect(await pool()).toMatchObject({ paused: true, pausedNote: "a new disk", oldTokenUntil: null })
  await run("resume", "pool", "--shared")
  expect(await authenticateRunner(store, second)).toMatchObject({ paused: false })
  await run("remove", "pool", "--shared")
  expect(await pool()).toBeUndefined()
})

// R-FLEET-2
test("leaves the token of the environment's runner to the environment", async () => {
  const { run } = await commandLine()

  for (const verb of ["rotate", "remove"]) await expect(run(verb, "default")).rejects.toMatchObject({ code: "forbidden" })
  await run("register", "default", "--shared")
  expect(await run("rotate", "default", "--shared")).toHaveLength(1)
})

test("refuses what names no runner or no workspace, and a name that is taken, each by its code", async () => {
  const { run } = await commandLine()
  await run("register", "build-1")

  await expect(run("pause", "build-2")).rejects.toMatchObject({ code: "not_found" })
  await expect(run("pause", "build-1", "--shared")).rejects.toMatchObject({ code: "not_found" })
  await expect(run("register", "build-2", "--workspace", "nowhere")).rejects.toMatchObject({ code: "not_found" })
  await expect(run("register", "build-1")).rejects.toMatchObject({ code: "runner_name_taken" })
})

test.each([
  [[]],
  [["dance", "build-1"]],
  [["register"]],
  [["list", "build-1"]],
  [["register", "build-1", "build-2"]],
  [["register", "build\n1"]],
  [["rotate", "build-1", "--overlap-hours", "many"]],
  [["rotate", "build-1", "--overlap-hours", ""]],
  [["register", "build-1", "--shared", "--workspace", "other"]],
  [["register", "build-1", "--token", "mine"]],
  [["list", "--shared"]],
  [["list", "--workspace", "acme"]],
  [["register", "build-1", "--note", "a new disk"]],
  [["resume", "build-1", "--note", ""]],
  [["revoke", "build-1", "--overlap-hours", "24"]],
])("shows how it is used instead of guessing what %j means", async (argv) => {
  const { run } = await commandLine()
  if (["rotate", "revoke", "resume"].includes(argv[0] ?? "")) await run("register", "build-1")

  await expect(run(...argv)).rejects.toMatchObject({ code: "config_invalid", message: expect.stringContaining("usage: runner <verb>") })
})
