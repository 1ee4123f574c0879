import { noUsage } from "@galley/contract/usage"
import { MARKER, stateBlock } from "@galley/findings/comment-state"
import { defaultReviewSkill } from "@galley/prompt/default-skill"
import { updateSettings } from "@galley/store/projects/update-settings"
import { completeJob } from "@galley/store/queue/complete-job"
import { heartbeat } from "@galley/store/queue/heartbeat"
import { authenticateRunner } from "@galley/store/runners/authenticate-runner"
import { listRunners } from "@galley/store/runners/list-runners"
import { registerRunner } from "@galley/store/runners/register-runner"
import { rotateRunnerToken } from "@galley/store/runners/rotate-runner-token"
import { TOKEN_OVERLAP_MS } from "@galley/store/runners/runner-token"
import { touchRunner } from "@galley/store/runners/touch-runner"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest"
import { finding } from "../integration/finding-fixture.ts"
import { claimed, readJob, reviewed } from "../integration/store-fixture.ts"
import { launchChromium, openPage } from "./chromium.ts"
import { type PagesRig, startPagesRig } from "./pages-rig.ts"

let rig: PagesRig
let browser: Browser

beforeAll(async () => {
  rig = await startPagesRig()
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await rig?.stop()
})

/** Signs in by the page, as the demo user. Whatever the pages complain about, apart from `expected`, fails the test. */
async function visit(options: { colorScheme?: "light" | "dark"; expected?: RegExp } = {}): Promise<Page> {
  const { page, complaints, close } = await openPage(browser, rig.url, options.colorScheme)
  page.setDefaultTimeout(15_000)
  onTestFinished(async () => {
    await close()
    expect(complaints.filter((complaint) => !options.expected?.test(complaint))).toEqual([])
  })
  await page.goto("/")
  await page.getByRole("button", { name: "Continue as the demo user" }).click()
  await page.getByRole("heading", { name: "Projects" }).waitFor()
  return page
}

const shoot = (page: Page, name: string) => page.screenshot({ path: `artefacts/screenshots/${name}.png`, fullPage: true })

async function openSettings(page: Page): Promise<void> {
  await page.goto("/")
  await page.getByRole("link", { name: "sample/checkout" }).click()
  await page.getByRole("link", { name: "Settings" }).click()
  await page.getByRole("heading", { name: "Settings" }).waitFor()
}

async function change(changes: Record<string, unknown>): Promise<void> {
  const { id, settingsVersion } = await rig.project()
  const { workspaceId } = rig.tenant
  await updateSettings(rig.store, { workspaceId, projectId: id, version: settingsVersion, changes, actor: "test" })
}

/** Every job of earlier tests is out of the way. */
async function endJobs(): Promise<void> {
  await rig.store.sql`
    update review_jobs set state = 'cancelled', finished_at = now(), lease_token_hash = null, lease_expires_at = null
    where state in ('waiting', 'running', 'publishing')`
}

// R-KIND-3
test("switches reviews on and asks for the other kind, which cancels the waiting job", async () => {
  const page = await visit()
  await openSettings(page)
  await page.getByLabel("Review pull requests", { exact: true }).check()
  await page.getByRole("button", { name: "Save settings" }).click()
  await page.getByRole("status").getByText("Settings saved.").waitFor()
  await rig.openPullRequest(1)
  await page.goto(`/w/demo/projects/${rig.tenant.projectId}`)
  await page.getByRole("cell", { name: /Waiting Diff Review/ }).waitFor()

  await page.getByRole("link", { name: "Settings" }).click()
  await page.getByLabel("Dynamic Review", { exact: true }).check()
  await page.getByRole("button", { name: "Save settings" }).click()
  await page.getByRole("status").getByText("Settings saved.").waitFor()
  await page.goto(`/w/demo/projects/${rig.tenant.projectId}/pulls/1`)

  await page.getByRole("row", { name: /Cancelled.*review_kind_changed/ }).waitFor()
  expect((await rig.project()).settings).toMatchObject({ active: true, reviewKind: "dynamic" })
})

test("queues an urgent review by Review now and follows it on the page of the pull request", async () => {
  await change({ active: true })
  await endJobs()
  await rig.openPullRequest(2, "Round amounts down")
  await endJobs()
  const page = await visit()
  await page.goto(`/w/demo/projects/${rig.tenant.projectId}`)

  await page.getByRole("button", { name: "Review pull request 2 now" }).click()

  await page.getByRole("status").getByText("A review is queued.").waitFor()
  await page.getByText("A review waits for a runner.").waitFor()
  await page.getByRole("row", { name: /Review now \(demo\)/ }).waitFor()
  await claimed(rig.store, rig.tenant)
  await page.getByText("A review is under way.").waitFor()
})

// R-SET-3
test("edits the review skill, counts its bytes and goes back to the shipped one", async () => {
  const page = await visit()
  await openSettings(page)
  const skill = page.getByLabel("Review skill")
  expect(await skill.inputValue()).toBe(defaultReviewSkill)
  await skill.fill("Look at names.\nÄpfel")
  await page.getByText("21 of 16,384 bytes").waitFor()
  await page.getByRole("button", { name: "Save settings" }).click()
  await page.getByText("This project has its own skill.").waitFor()
  expect((await rig.project()).settings.reviewSkill).toBe("Look at names.\nÄpfel")

  await page.getByRole("button", { name: "Reset to default" }).click()

  await page.getByText("This is the shipped skill.").waitFor()
  expect(await skill.inputValue()).toBe(defaultReviewSkill)
  expect((await rig.project()).settings).not.toHaveProperty("reviewSkill")
})

// R-PAGE-4
test("keeps what was typed and says beside the field what is wrong with it", async () => {
  const page = await visit({ expected: /422/ })
  await openSettings(page)
  await page.getByLabel("Most findings").fill("31")
  await page.getByLabel("Wait after a push").fill("7")
  await page.getByRole("button", { name: "Save settings" }).click()

  await page.getByRole("alert").getByText("Nothing was saved.").waitFor()
  const field = page.getByLabel("Most findings")
  expect(await field.inputValue()).toBe("31")
  expect(await field.getAttribute("aria-invalid")).toBe("true")
  const described = (await field.getAttribute("aria-describedby"))?.split(" ") ?? []
  expect(await page.locator(`#${described[0]}`).textContent()).toBe("Enter a whole number from 1 to 30.")
  expect(await page.getByLabel("Wait after a push").inputValue()).toBe("7")
  await shoot(page, "settings-invalid-light")
})

// R-PAGE-5
test("shows a run's phases, findings and publication as they happen, without a reload", async () => {
  await change({ active: true, reviewKind: "dynamic" })
  await rig.openPullRequest(3, "Retry <b>failed</b> charges")
  await endJobs()
  const page = await visit()
  await page.goto(`/w/demo/projects/${rig.tenant.projectId}`)
  await page.getByRole("button", { name: "Review pull request 3 now" }).click()
  await page.getByText("A review waits for a runner.").waitFor()
  const lease = await claimed(rig.store, rig.tenant)
  const proof = { ...lease, runnerId: rig.tenant.runnerId }
  await page.goto(`/w/demo/runs/${lease.leaseId}`)
  await page.getByText("Leased").waitFor()

  const usage = { ...noUsage, modelCalls: 4, inputTokens: 31_250, outputTokens: 1_800, toolCalls: 23, toolFiles: 9 }
  await heartbeat(rig.store, proof, { phase: "reviewing", progress: "4 model calls", usage })
  await page.getByText("Reviewing, 4 model calls").waitFor()
  await page.getByText("33,050 of 120,000").waitFor()
  await shoot(page, "run-live-light")

  const findings = [
    finding({
      title: "Charge under the same reference on a retry",
      body: "A retry makes a new reference, so the bank charges twice.\n<script>alert(1)</script>",
    }),
    finding({ id: "f2", priority: "P2", title: "Keep the remainder of a discount", path: "src/basket.ts", startLine: 8, endLine: 8 }),
    finding({ id: "f3", state: "resolved", title: "Check the currency" }),
  ]
  const state = { schema_version: 1 as const, findings: [] }
  await completeJob(
    rig.store,
    proof,
    reviewed(lease, {
      findings,
      state,
      usage,
      coverage: {
        status: "partial",
        changedFiles: 4,
        reviewedFiles: 3,
        examinedPaths: ["src/charge.ts"],
        omitted: { omissions: [{ path: "logo.png", reason: "binary", changed: true }], total: 3 },
        comparison: "none",
      },
      trace: {
        engine: { name: "opencode", version: "1.19.0" },
        steps: [
          { name: "checkout", ms: 420 },
          { name: "engine start", ms: 1_900 },
          { name: "review", ms: 14_300 },
          { name: "reconcile", ms: 12 },
        ],
        droppedFindings: [],
      },
      comment: `## Review\n\n${MARKER}\n\nTwo findings.\n\n${stateBlock(state)}`,
    }),
  )
  await page.getByRole("heading", { name: "Findings 2 active findings" }).waitFor()
  await page.getByRole("status").getByText("Published", { exact: true }).waitFor()
  expect(await page.getByText("<script>alert(1)</script>").count()).toBe(1)
  expect(await readJob(rig.store, lease.jobId)).toMatchObject({ state: "succeeded" })
  await page.reload()
  await page.getByRole("link", { name: "Summary comment" }).waitFor()
  await shoot(page, "run-light")
})

// R-FLEET-7
test("registers a runner, rotates and revokes its token, pauses it with a note, resumes and removes it", async () => {
  const page = await visit()
  await page.getByRole("link", { name: "Runners" }).click()
  await page.getByLabel("Name").fill("build-1")
  await page.getByRole("button", { name: "Register" }).click()
  const token = page.getByLabel("GALLEY_RUNNER_TOKEN")
  const first = await token.inputValue()
  expect(await authenticateRunner(rig.store, first)).toMatchObject({ name: "build-1", usesOldToken: false })
  expect(page.url()).not.toContain(first)
  await shoot(page, "runner-token-light")
  await page.getByRole("link", { name: "Go to the runner" }).click()

  await page.getByLabel("The old token goes on working for").selectOption("1 hour")
  await page.getByRole("button", { name: "Rotate the token" }).click()
  await page.getByText("The old token goes on working for 1 hour.").waitFor()
  const second = await token.inputValue()
  expect(await authenticateRunner(rig.store, first)).toMatchObject({ usesOldToken: true })
  await page.getByRole("link", { name: "Go to the runner" }).click()
  expect(await page.content()).not.toContain("galley_runner_")
  await page.getByRole("button", { name: "Revoke the old token" }).click()
  await page.getByRole("status").getByText("The old token is refused from now on.").waitFor()
  await expect(authenticateRunner(rig.store, first)).rejects.toMatchObject({ code: "runner_unauthorized" })

  await page.getByLabel("Why").fill("A new disk")
  await page.getByRole("button", { name: "Pause" }).click()
  await page.getByText("Paused by demo").getByText("A new disk").waitFor()
  expect(await authenticateRunner(rig.store, second)).toMatchObject({ paused: true })
  await shoot(page, "runner-paused-light")
  await page.getByRole("button", { name: "Resume" }).click()
  await page.getByRole("status").getByText("The runner takes reviews again.").waitFor()

  await page.getByText("Remove this runner").click()
  await page.getByLabel("Remove build-1 for good").check()
  await page.getByRole("button", { name: "Remove", exact: true }).click()
  await page.getByRole("status").getByText("The runner is removed.").waitFor()
  expect(await page.getByRole("link", { name: "build-1" }).count()).toBe(0)
  await expect(authenticateRunner(rig.store, second)).rejects.toMatchObject({ code: "runner_unauthorized" })
})

// R-PAGE-7
test("shows where the keyboard stands, and lets it skip to the content", async () => {
  const page = await visit()
  await page.goto("/w/demo/projects")
  await page.keyboard.press("Tab")
  const focused = page.locator(":focus")
  expect(await focused.textContent()).toContain("Skip to content")
  expect((await focused.boundingBox())?.x).toBeGreaterThanOrEqual(0)
  expect(await focused.evaluate((element) => getComputedStyle(element).outlineStyle)).toBe("solid")
  await page.keyboard.press("Enter")
  await page.keyboard.press("Tab")
  expect(await page.locator(":focus").textContent()).toBe("sample/checkout")
})

const pages = ["sign-in", "projects", "project", "settings", "pull-request", "runs", "run", "runners", "runner"] as const

async function addressOf(name: (typeof pages)[number]): Promise<string> {
  const project = `/w/demo/projects/${rig.tenant.projectId}`
  const [run] = await rig.store.sql<[{ id: string }]>`select id from review_runs order by published_at desc nulls last limit 1`
  return {
    "sign-in": "/sign-in",
    projects: "/w/demo/projects",
    project,
    settings: `${project}/settings`,
    "pull-request": `${project}/pulls/1`,
    runs: "/w/demo/runs",
    run: `/w/demo/runs/${run.id}`,
    runners: "/w/demo/runners",
    runner: `/w/demo/runners/${(await managedRunner()).runnerId}`,
  }[name]
}

/** A runner that shows everything its page can: proofs, an old token, the forms. Made once. */
async function managedRunner(): Promise<{ runnerId: string }> {
  const { workspaceId } = rig.tenant
  const known = (await listRunners(rig.store, workspaceId)).find(({ name }) => name === "build-2")
  if (known !== undefined) return { runnerId: known.id }
  const { runnerId } = await registerRunner(rig.store, { workspaceId, name: "build-2", actor: "test" })
  await rotateRunnerToken(rig.store, { workspaceId, runnerId, actor: "test" }, TOKEN_OVERLAP_MS)
  const proof = { engineVersion: "pr-agent 0.48.0", boundary: "enforced" as const, checkedAt: new Date().toISOString() }
  const capabilities = [
    { ...proof, kind: "diff" as const, expiresAt: new Date(Date.now() + 1_800_000).toISOString() },
    { ...proof, kind: "dynamic" as const, engineVersion: "opencode 1.18.34", expiresAt: proof.checkedAt },
  ]
  await touchRunner(rig.store, { id: runnerId, usesOldToken: true }, { name: "build-2.example", version: "0.1.0", capabilities })
  return { runnerId }
}

// R-PAGE-7
test.each(pages)(
  "gives every control of the page %s a name, has headings without gaps, and fits a phone, in light and dark",
  async (name) => {
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await visit({ colorScheme })
      if (name === "sign-in") await page.context().clearCookies()
      await page.goto(await addressOf(name))
      await page.locator("main h1").waitFor()
      await shoot(page, `${name}-${colorScheme}`)
      const levels = await page.locator("h1, h2, h3, h4").evaluateAll((all) => all.map(({ tagName }) => Number(tagName.slice(1))))
      expect(levels[0]).toBe(1)
      expect(levels.filter((level) => level === 1)).toHaveLength(1)
      expect(levels.every((level, at) => at === 0 || level <= (levels[at - 1] ?? 0) + 1)).toBe(true)
      const nameless = await page
        .locator("input:not([type=hidden]), select, textarea, button, a, summary")
        .evaluateAll((all) =>
          all
            .filter(
              (one) =>
                !(
                  one.getAttribute("aria-label") ||
                  one.textContent?.trim() ||
                  ("labels" in one && (one as HTMLInputElement).labels?.length)
                ),
            )
            .map((one) => one.outerHTML),
        )
      expect(nameless).toEqual([])
      await page.setViewportSize({ width: 390, height: 844 })
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
      if (colorScheme === "light") await shoot(page, `${name}-narrow`)
    }
  },
)
