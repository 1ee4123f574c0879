import { MAX_PAGE_REQUEST_BYTES } from "@galley/contract/limits"
import { defaultReviewSkill } from "@galley/prompt/default-skill"
import { getProject } from "@galley/store/projects/get-project"
import { saveModelProvider } from "@galley/store/providers/save-model-provider"
import { expect, test } from "vitest"
import { ORIGIN, type PagesTenant, startPages } from "./pages-fixture.ts"
import type { TestServer } from "./server-fixture.ts"
import { push, readJob } from "./store-fixture.ts"

/** The form as a browser sends it: everything ticked or typed, line breaks as CRLF. */
const form = (changes: Record<string, string> = {}) => ({
  version: "1",
  active: "on",
  reviewKind: "diff",
  dynamicModel: "deepseek-v4.1-flash",
  reviewSkill: defaultReviewSkill.replaceAll("\n", "\r\n"),
  maxFindings: "10",
  debounceSeconds: "30",
  ...changes,
})

const settingsOf = async ({ context }: TestServer, tenant: PagesTenant) =>
  (await getProject(context.store, tenant.workspaceId, tenant.projectId)).settings

test("saves the form and says so on the page it leads to", async () => {
  const { server, tenant, owner } = await startPages({ reviewDrafts: true })

  const answer = await owner.submit(tenant.settingsPath, form({ maxFindings: "4", reviewBotPullRequests: "on" }))

  expect([answer.status, answer.headers.get("location")]).toEqual([303, `${tenant.settingsPath}?done=saved`])
  expect(await settingsOf(server, tenant)).toMatchObject({ maxFindings: 4, reviewBotPullRequests: true, reviewDrafts: false, active: true })
  expect(await (await owner.get(`${tenant.settingsPath}?done=saved`)).text()).toContain("Settings saved.")
})

// R-KIND-3
test("cancels the waiting job when the kind is changed by the form", async () => {
  const { server, tenant, owner } = await startPages()
  const { jobId } = await push(server.context.store, tenant, 1, { wanted: { debounceMs: 60_000 } })

  await owner.submit(tenant.settingsPath, form({ reviewKind: "dynamic" }))

  expect(await readJob(server.context.store, jobId)).toMatchObject({ state: "cancelled", code: "review_kind_changed" })
})

// R-SET-3
test("keeps using the shipped skill when it is saved unchanged, although browsers send other line breaks", async () => {
  const { server, tenant, owner } = await startPages()
  await owner.submit(tenant.settingsPath, form())
  expect(await settingsOf(server, tenant)).not.toHaveProperty("reviewSkill")

  await owner.submit(tenant.settingsPath, form({ version: "2", reviewSkill: "Look at names.\r\nAnd units." }))
  expect((await settingsOf(server, tenant)).reviewSkill).toBe("Look at names.\nAnd units.")
  await owner.postJson(tenant.settingsPath, { version: 3, changes: { reviewSkill: defaultReviewSkill } })
  expect(await settingsOf(server, tenant)).not.toHaveProperty("reviewSkill")
})

test("gives the skill back to the form as it was saved, markup and leading line break included", async () => {
  const reviewSkill = "\n</textarea><script>alert(1)</script>&amp;"
  const { tenant, owner } = await startPages({ reviewSkill })

  const html = await (await owner.get(tenant.settingsPath)).text()

  expect(html).toContain(">\n\n&lt;/textarea&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;</textarea>")
})

// R-SET-3
test("resets the skill by its button", async () => {
  const { server, tenant, owner } = await startPages({ reviewSkill: "Look at names." })

  const answer = await owner.submit(`${tenant.settingsPath}/reset-skill`, { version: "1" })

  expect(answer.headers.get("location")).toBe(`${tenant.settingsPath}?done=skill-reset`)
  expect(await settingsOf(server, tenant)).not.toHaveProperty("reviewSkill")
})

/** One byte more than a skill may have, though half as many characters. */
const LONG_SKILL = "ä".repeat(8_193)
const invalid: [field: string, value: string, sentence: string][] = [
  ["maxFindings", "31", "from 1 to 30"],
  ["maxFindings", "", "from 1 to 30"],
  ["maxFindings", "2.5", "from 1 to 30"],
  ["debounceSeconds", "-1", "from 0 to 300"],
  ["debounceSeconds", "301", "from 0 to 300"],
  ["dynamicModel", "two words", "without spaces"],
  ["reviewKind", "both", "Choose Diff Review or Dynamic Review"],
  ["reviewSkill", " \r\n ", "must not be blank"],
  ["reviewSkill", LONG_SKILL, "larger than 16384 bytes"],
]

const titled = invalid.map(([field, value, sentence]) => ({ field, value, sentence, shown: JSON.stringify(value.slice(0, 10)) }))

// B53, B54, R-PAGE-4, R-SET-2
test.each(titled)("refuses $field = $shown, says so beside the field and keeps the other values", async ({ field, value, sentence }) => {
  const { server, tenant, owner } = await startPages()
  const other = field === "maxFindings" ? { debounceSeconds: "77" } : { maxFindings: "17" }

  const answer = await owner.submit(tenant.settingsPath, form({ ...other, [field]: value }))

  expect(answer.status).toBe(422)
  const html = await answer.text()
  const problem = new RegExp(`<p class="problem" id="${field}-problem">([^<]*)</p>`).exec(html)?.[1]
  expect(problem).toContain(sentence)
  expect(html).toMatch(new RegExp(`aria-describedby="${field}-problem `))
  expect(html).toContain(`value="${Object.values(other)[0]}"`)
  expect(await settingsOf(server, tenant)).toMatchObject({ maxFindings: 10, debounceSeconds: 30 })
})

// B53, B54, R-SET-2
test.each([
  [{ maxFindings: 31 }, "maxFindings"],
  [{ reviewKind: "DIFF" }, "reviewKind"],
  [{ reviewKind: null }, "reviewKind"],
  [{ dynamicModel: "two\nlines" }, "dynamicModel"],
  [{ dynamicModel: "m".repeat(201) }, "dynamicModel"],
  [{ reviewSkill: "" }, "reviewSkill"],
  [{ reviewSkill: "a\0b" }, "reviewSkill"],
  [{ reviewSkill: "\ud83d" }, "reviewSkill"],
  [{ active: "yes" }, "active"],
  [{ gitUrl: "https://evil.example" }, "gitUrl"],
])("refuses %j from a JSON caller and names the field", async (changes, field) => {
  const { tenant, owner } = await startPages()

  const answer = await owner.postJson(tenant.settingsPath, { version: 1, changes })

  expect(answer.status).toBe(422)
  expect(await answer.json()).toMatchObject({ error: { code: "settings_invalid", field } })
})

// B55, R-SET-4
test("refuses to save over somebody else's change, and keeps what was typed", async () => {
  const { server, tenant, owner } = await startPages()
  await owner.submit(tenant.settingsPath, form({ maxFindings: "4" }))

  const late = await owner.submit(tenant.settingsPath, form({ maxFindings: "17" }))
  const json = await owner.postJson(tenant.settingsPath, { version: 1, changes: { maxFindings: 5 } })

  expect(late.status).toBe(409)
  const html = await late.text()
  expect(html).toContain('value="17"')
  expect(html).toContain('name="version" value="2"')
  expect([json.status, await json.json()]).toMatchObject([409, { error: { code: "settings_conflict" } }])
  expect(await settingsOf(server, tenant)).toMatchObject({ maxFindings: 4 })
})

test("refuses a body that is larger than any form, whether or not its length is declared", async () => {
  const { server, tenant, owner } = await startPages()
  const reviewSkill = "x".repeat(MAX_PAGE_REQUEST_BYTES)
  const tooLarge = { error: { code: "request_too_large" } }

  const submitted = await owner.submit(tenant.settingsPath, form({ reviewSkill }))
  const posted = await owner.postJson(tenant.settingsPath, { version: 1, changes: { reviewSkill } })
  const endless = await server.app.request("/sign-in/demo", {
    method: "POST",
    body: new Blob([reviewSkill, "x"]).stream(),
    duplex: "half",
    headers: { origin: ORIGIN, accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
  } as RequestInit)

  expect(submitted.status).toBe(413)
  for (const answer of [submitted, posted, endless]) expect(answer.headers.get("connection")).toBe("close")
  expect([posted.status, await posted.json()]).toMatchObject([413, tooLarge])
  expect([endless.status, await endless.json()]).toMatchObject([413, tooLarge])
})

test("saves a model that no provider has, and says that its reviews will fail", async () => {
  const { server, tenant, owner } = await startPages()
  const { store } = server.context
  const warning = "No provider of the workspace has this model"
  await saveModelProvider(store, store.sql, {
    workspaceId: tenant.workspaceId,
    name: "p",
    baseUrl: "http://127.0.0.1:9/v1",
    apiKey: "key",
    models: [{ logical: "their-model", upstream: "m", contextTokens: 128_000, outputTokens: 8_192, price: null }],
    defaultModel: "their-model",
  })

  await owner.submit(tenant.settingsPath, form({ dynamicModel: "their-model" }))
  expect(await (await owner.get(tenant.settingsPath)).text()).not.toContain(warning)
  const answer = await owner.submit(tenant.settingsPath, form({ version: "2", dynamicModel: "nobodys-model" }))
  expect(answer.status).toBe(303)
  expect(await (await owner.get(tenant.settingsPath)).text()).toContain(warning)
})

test("answers a form without its version with a field, not with a fault", async () => {
  const { tenant, owner } = await startPages()

  const answer = await owner.submit(tenant.settingsPath, {}, { accept: "application/json" })

  expect([answer.status, await answer.json()]).toMatchObject([422, { error: { code: "request_invalid", field: "version" } }])
})
