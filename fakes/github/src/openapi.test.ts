// R-FAKE-1

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type FakeGitHub, startFakeGitHub } from "./fake-github.ts"
import { openApiJudge } from "./testing/openapi-judge.ts"
import { appToken, ask, type Call, field, installationToken } from "./testing/test-client.ts"
import { createTestRepository, type TestRepository } from "./testing/test-repository.ts"
import { startWebhookReceiver, type WebhookReceiver } from "./testing/webhook-receiver.ts"

let repository: TestRepository
let receiver: WebhookReceiver
let fake: FakeGitHub
let token: string
let commentId: number
let deliveryId: number

beforeAll(async () => {
  ;[repository, receiver] = await Promise.all([createTestRepository(), startWebhookReceiver()])
  fake = await startFakeGitHub({ webhook: { url: receiver.url, secret: "s" } })
  await fake.registerRepository({
    owner: "acme",
    name: "shop",
    gitDirectory: repository.directory,
    installationId: 7,
    collaborators: { ada: "write" },
  })
  await fake.openPullRequest({
    repo: "acme/shop",
    baseSha: repository.base,
    headRef: "feature",
    headSha: repository.head,
    author: "ada",
    body: "Why",
  })
  const { base, wide } = repository
  await fake.openPullRequest({ repo: "acme/shop", baseSha: base, headRef: "wide", headSha: wide, fork: { owner: "forker" }, draft: true })
  commentId = (await fake.writeComment({ repo: "acme/shop", number: 1, body: "Hello", author: "ada" })).id
  deliveryId = fake.deliveries()[0]?.id ?? 0
  fake.registerUserToken("ada", "a-person")
  token = await installationToken(fake, 7)
})

afterAll(async () => {
  await Promise.all([fake?.close(), receiver?.close(), repository?.remove()])
})

type Asked = readonly [method: string, path: string, call?: () => Call]
const asApp = () => ({ token: appToken(fake) })
const asPerson = () => ({ token: "a-person" })
const asInstallation = () => ({ token })
const repo = "/repos/acme/shop"

/** Every call of the product and of PR-Agent, with a caller who may make it. */
const calls: Readonly<Record<string, () => Asked>> = {
  "the App": () => ["GET", "/app", asApp],
  "the installations": () => ["GET", "/app/installations", asApp],
  "one installation": () => ["GET", "/app/installations/7", asApp],
  "an unknown installation": () => ["GET", "/app/installations/8", asApp],
  "a token": () => ["POST", "/app/installations/7/access_tokens", asApp],
  "a narrowed token": () => [
    "POST",
    "/app/installations/7/access_tokens",
    () => ({ ...asApp(), body: { repositories: ["shop"], permissions: { contents: "read" } } }),
  ],
  "a token for an unknown repository": () => [
    "POST",
    "/app/installations/7/access_tokens",
    () => ({ ...asApp(), body: { repository_ids: [1] } }),
  ],
  "a token without credentials": () => ["POST", "/app/installations/7/access_tokens"],
  "the repositories of a token": () => ["GET", "/installation/repositories", asInstallation],
  "the webhook configuration": () => ["GET", "/app/hook/config", asApp],
  "a change of the webhook configuration": () => ["PATCH", "/app/hook/config", () => ({ ...asApp(), body: { secret: "s" } })],
  deliveries: () => ["GET", "/app/hook/deliveries", asApp],
  "one delivery": () => ["GET", `/app/hook/deliveries/${deliveryId}`, asApp],
  "a redelivery": () => ["POST", `/app/hook/deliveries/${deliveryId}/attempts`, asApp],
  "a repository": () => ["GET", repo, asInstallation],
  "an unknown repository": () => ["GET", "/repos/acme/nothing", asInstallation],
  "the installation of a repository": () => ["GET", `${repo}/installation`, asApp],
  languages: () => ["GET", `${repo}/languages`, asInstallation],
  "pull requests": () => ["GET", `${repo}/pulls?state=all`, asInstallation],
  "one pull request": () => ["GET", `${repo}/pulls/1`, asInstallation],
  "a pull request of a fork": () => ["GET", `${repo}/pulls/2`, asInstallation],
  "an unknown pull request": () => ["GET", `${repo}/pulls/99`, asInstallation],
  "files of a pull request": () => ["GET", `${repo}/pulls/1/files`, asInstallation],
  "commits of a pull request": () => ["GET", `${repo}/pulls/1/commits`, asInstallation],
  "review comments": () => ["GET", `${repo}/pulls/1/comments`, asInstallation],
  reviews: () => ["GET", `${repo}/pulls/1/reviews`, asInstallation],
  "a pull request as an issue": () => ["GET", `${repo}/issues/1`, asInstallation],
  labels: () => ["GET", `${repo}/issues/1/labels`, asInstallation],
  comments: () => ["GET", `${repo}/issues/1/comments`, asInstallation],
  "a new comment": () => ["POST", `${repo}/issues/1/comments`, () => ({ token, body: { body: "Review" } })],
  "a blank comment": () => ["POST", `${repo}/issues/1/comments`, () => ({ token, body: { body: " " } })],
  "one comment": () => ["GET", `${repo}/issues/comments/${commentId}`, asInstallation],
  "a changed comment": () => ["PATCH", `${repo}/issues/comments/${commentId}`, () => ({ token, body: { body: "Changed" } })],
  "a reaction to a comment": () => ["POST", `${repo}/issues/comments/${commentId}/reactions`, () => ({ token, body: { content: "eyes" } })],
  "a reaction to a pull request": () => ["POST", `${repo}/issues/1/reactions`, () => ({ token, body: { content: "+1" } })],
  "the role of a person": () => ["GET", `${repo}/collaborators/ada/permission`, asInstallation],
  "a file": () => ["GET", `${repo}/contents/a%20dir/%C3%BC%20%23%3F.txt?ref=${repository.head}`, asInstallation],
  "a directory": () => ["GET", `${repo}/contents/src?ref=main`, asInstallation],
  "a symlink": () => ["GET", `${repo}/contents/kind?ref=feature`, asInstallation],
  "a missing file": () => ["GET", `${repo}/contents/nothing.txt`, asInstallation],
  "a comparison": () => ["GET", `${repo}/compare/${repository.base}...${repository.head}`, asInstallation],
  "a comparison without common history": () => ["GET", `${repo}/compare/${repository.base}...${repository.orphan}`, asInstallation],
  "a branch": () => ["GET", `${repo}/branches/main`, asInstallation],
  "a commit": () => ["GET", `${repo}/commits/${repository.head}`, asInstallation],
  "an unknown commit": () => ["GET", `${repo}/commits/${"0".repeat(40)}`, asInstallation],
  "a tree": () => ["GET", `${repo}/git/trees/${repository.head}?recursive=1`, asInstallation],
  "the person signed in": () => ["GET", "/user", asPerson],
  "nobody signed in": () => ["GET", "/user"],
  "the App as a person": () => ["GET", "/user", asInstallation],
  "installations of a person": () => ["GET", "/user/installations", asPerson],
  "repositories of a person": () => ["GET", "/user/installations/7/repositories", asPerson],
  "organizations of a person": () => ["GET", "/user/memberships/orgs", asPerson],
  "another person": () => ["GET", "/users/ada", asInstallation],
  "the rate limit": () => ["GET", "/rate_limit", asInstallation],
  "what this GitHub is": () => ["GET", "/meta", asInstallation],
}

for (const flavour of ["api.github.com", "ghes-3.17"] as const) {
  describe(flavour, () => {
    const judge = openApiJudge(flavour)
    for (const [name, asked] of Object.entries(calls)) {
      test(`${name} is answered as ${flavour} describes it`, async () => {
        const [method, path, call] = asked()
        const answer = await ask(flavour === "ghes-3.17" ? fake.apiUrl : fake.rootApiUrl, method, path, call?.())
        expect(judge.problems(method, path, answer.status, answer.body)).toEqual([])
      })
    }

    test(`the end of a comment and of a token is answered as ${flavour} describes it`, async () => {
      const origin = flavour === "ghes-3.17" ? fake.apiUrl : fake.rootApiUrl
      const own = await installationToken(fake, 7)
      const comment = await ask(origin, "POST", `${repo}/issues/1/comments`, { token: own, body: { body: "Short-lived" } })
      const path = `${repo}/issues/comments/${field(comment.body, "id")}`
      for (const [method, address] of [
        ["DELETE", path],
        ["GET", path],
        ["DELETE", "/installation/token"],
        ["GET", "/installation/repositories"],
      ] as const) {
        const answer = await ask(origin, method, address, { token: own })
        expect(judge.problems(method, address, answer.status, answer.body)).toEqual([])
      }
    })

    test(`the judge of ${flavour} refuses a missing field, a wrong type and an undescribed status`, async () => {
      const { body } = await ask(fake.rootApiUrl, "GET", `${repo}/pulls/1`, { token })
      expect(judge.problems("GET", `${repo}/pulls/1`, 200, { ...Object(body), title: undefined })).not.toEqual([])
      expect(judge.problems("GET", `${repo}/pulls/1`, 200, { ...Object(body), number: "1" })).not.toEqual([])
      expect(judge.problems("GET", `${repo}/pulls/1`, 418, body)).not.toEqual([])
    })
  })
}

test("only check runs are described but not answered", () => {
  const judge = openApiJudge("api.github.com")
  const asked = new Set(Object.values(calls).map((call) => call().slice(0, 2).join(" ").replace(/\?.*$/, "")))
  const unasked = judge.operations.filter(
    (operation) =>
      ![...asked].some((one) =>
        new RegExp(`^${operation.replace(/\{(path|basehead)\}/g, ".+").replace(/\{[^}]+\}/g, "[^/]+")}$`).test(one),
      ),
  )
  expect(unasked.sort()).toEqual([
    // asked by tests of their own
    "DELETE /installation/token",
    "DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}",
    "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}",
    "POST /app-manifests/{code}/conversions",
    "POST /repos/{owner}/{repo}/check-runs",
  ])
})
