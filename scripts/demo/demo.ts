/**
 * `make demo`: one pull request, reviewed by both kinds through the whole road on the real engines. Reads ONCE, REPO, BASE, HEAD and
 * MODEL_BASE_URL, MODEL_API_KEY, MODEL from the environment. Exit status 0 only when both reviews were published.
 */
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { type PagesClient, signIn } from "./pages-client.ts"
import { type RunRow, runLine, waitForRun } from "./review-run.ts"
import { openSample, registerSample, sampleProject } from "./sample-project.ts"
import { makeSampleRepository, readChange, type SampleChange } from "./sample-repository.ts"
import type { ModelService } from "./server-environment.ts"
import { type Platform, startPlatform } from "./start-platform.ts"

const NUMBER = 1
const REVIEW_TIMEOUT_MS = 600_000
const startedAt = performance.now()

const say = (line: string) => console.log(`[${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)} s] ${line}`)
const environment = (name: string) => (process.env[name] === "" ? undefined : process.env[name])

function chooseModel(): ModelService | null {
  const [baseUrl, apiKey, model] = [environment("MODEL_BASE_URL"), environment("MODEL_API_KEY"), environment("MODEL")]
  if (baseUrl === undefined && apiKey === undefined && model === undefined) return null
  if (baseUrl === undefined || apiKey === undefined || model === undefined) {
    throw new Error("a real model needs all of MODEL_BASE_URL, MODEL_API_KEY and MODEL")
  }
  return { baseUrl, apiKey, model }
}

function chooseChange(directory: string): SampleChange {
  const [repo, base, head] = [environment("REPO"), environment("BASE"), environment("HEAD")]
  if (repo === undefined && base === undefined && head === undefined) return makeSampleRepository(directory)
  if (repo === undefined || base === undefined || head === undefined) throw new Error("a change of yours needs all of REPO, BASE and HEAD")
  return readChange(resolve(repo), base, head)
}

type Project = { id: string; owner: string; name: string; settingsVersion: number }

async function findProject(pages: PagesClient): Promise<Project> {
  const { projects } = await pages.get<{ projects: Project[] }>(`${pages.workspacePath}/projects`)
  const project = projects.find(({ owner, name }) => owner === sampleProject.owner && name === sampleProject.name)
  if (project === undefined) throw new Error("the repository did not become a project")
  return project
}

async function changeSettings(pages: PagesClient, changes: Record<string, unknown>): Promise<Project> {
  const project = await findProject(pages)
  await pages.post(`${pages.workspacePath}/projects/${project.id}/settings`, { version: project.settingsVersion, changes })
  return project
}

/** Waits for one review, prints its comment, and returns its line. */
async function follow(platform: Platform, pages: PagesClient, project: Project, kind: "diff" | "dynamic", known: Set<string>) {
  const requestedAt = performance.now()
  const onState = (state: string) => say(`${kind} review: ${state}`)
  const run = await waitForRun(pages, { projectId: project.id, known, kind, timeoutMs: REVIEW_TIMEOUT_MS, onState })
  known.add(run.id)
  const seconds = (performance.now() - requestedAt) / 1000
  if (run.jobState !== "succeeded") say(`${kind} review ended as ${run.jobState}: ${run.code ?? ""} ${run.detail ?? ""}`)
  const comments = platform.github.comments({ repo: sampleProject.repo, number: NUMBER })
  for (const comment of comments) console.log(`\n${"-".repeat(20)} comment ${comment.id}\n${comment.body}\n${"-".repeat(40)}\n`)
  await printSteps(pages, run)
  return { run, line: runLine(run, seconds), comments: comments.length }
}

async function printSteps(pages: PagesClient, run: RunRow): Promise<void> {
  const detail = await pages.get<{ run: { trace: { steps: { name: string; ms: number }[] } | null } }>(
    `${pages.workspacePath}/runs/${run.id}`,
  )
  const steps = detail.run.trace?.steps ?? []
  if (steps.length > 0) say(`${run.kind} review, steps: ${steps.map(({ name, ms }) => `${name} ${(ms / 1000).toFixed(2)} s`).join(", ")}`)
}

async function reviewTwice(platform: Platform, change: SampleChange): Promise<boolean> {
  const { github } = platform
  await registerSample(github, change)
  const pages = await signIn(platform.url)
  const project = await changeSettings(pages, { active: true, reviewKind: "diff", debounceSeconds: 0 })
  const known = new Set<string>()

  say("a pull request is opened: the webhook queues a Diff Review")
  await openSample(github, change, NUMBER)
  const diff = await follow(platform, pages, project, "diff", known)

  say("the project is switched to Dynamic Review, and Review now is pressed")
  await changeSettings(pages, { reviewKind: "dynamic" })
  await pages.post(`${pages.workspacePath}/projects/${project.id}/pulls/${NUMBER}/review`, {})
  const dynamic = await follow(platform, pages, project, "dynamic", known)

  console.log(JSON.stringify(diff.line))
  console.log(JSON.stringify(dynamic.line))
  const published = [diff, dynamic].every(({ run }) => run.jobState === "succeeded")
  if (published && dynamic.comments !== 1) throw new Error(`expected one comment, found ${dynamic.comments}`)
  say(`pages:   ${platform.url}${pages.workspacePath}/projects (sign in as the demo user)`)
  say(`comment: ${github.url}/${sampleProject.repo}/pull/${NUMBER}#issuecomment-${dynamic.line.commentId ?? ""}`)
  return published
}

async function main(): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "galley-sample-"))
  const interrupted = new AbortController()
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => interrupted.abort())
  let platform: Platform | null = null
  try {
    const change = chooseChange(join(directory, "repository"))
    platform = await startPlatform({ log: say, realModel: chooseModel(), port: null })
    const running = reviewTwice(platform, change)
    const stopped = interrupted.signal.aborted ? Promise.resolve(null) : once(interrupted.signal, "abort").then(() => null)
    const published = await Promise.race([running, stopped])
    if (published === null) return 130
    if (environment("ONCE") === undefined) {
      say("everything stays up; Ctrl-C stops it")
      await stopped
      return 0
    }
    return published ? 0 : 1
  } catch (error) {
    console.error(`demo failed: ${error instanceof Error ? error.message : error}`)
    if (platform !== null) console.error(`logs: ${platform.logDirectory}`)
    return 1
  } finally {
    await platform?.stop()
    rmSync(directory, { recursive: true, force: true })
    say("stopped")
  }
}

process.exitCode = await main()
