import { startFakeGitHub } from "./src/fake-github.ts"
import { execFileSync } from "node:child_process"
import { createSign } from "node:crypto"
const sha = (r: string) => execFileSync("git", ["-C", "/tmp/fgh/repo", "rev-parse", r]).toString().trim()
const fake = await startFakeGitHub()
const b64 = (x: unknown) => Buffer.from(JSON.stringify(x)).toString("base64url")
const now = Math.floor(Date.now() / 1000)
const head = `${b64({ alg: "RS256", typ: "JWT" })}.${b64({ iat: now - 10, exp: now + 500, iss: 1 })}`
const jwt = `${head}.${createSign("RSA-SHA256").update(head).sign(fake.privateKeyPem ?? "").toString("base64url")}`
await fake.registerRepository({ owner: "acme", name: "shop", gitDirectory: "/tmp/fgh/repo", installationId: 7 })
const pr = await fake.openPullRequest({ repo: "acme/shop", baseSha: sha("main"), headSha: sha("feature"), headRef: "feature" })
console.log(pr.facts)
const call = async (path: string, token: string, init: RequestInit = {}) => {
  const r = await fetch(fake.apiUrl + path, { ...init, headers: { authorization: `Bearer ${token}` } })
  const t = await r.text()
  console.log(r.status, path, t.slice(0, 300))
  return t ? JSON.parse(t) : null
}
await call("/app", jwt)
const { token } = await call("/app/installations/7/access_tokens", jwt, { method: "POST", body: JSON.stringify({ permissions: { contents: "read", issues: "write", pull_requests: "write" }, repositories: ["shop"] }) })
for (const p of ["", "/pulls", "/pulls/1", "/pulls/1/files", "/pulls/1/commits", `/compare/main...feature`, "/contents/a%20dir/%C3%BC%20%23%3F.txt?ref=main", "/contents/link?ref=feature", "/contents/", "/contents/src", "/languages", "/issues/1", "/issues/1/comments", "/commits/feature", "/branches/main", "/git/trees/main?recursive=1", "/nope"]) await call(`/repos/acme/shop${p}`, token)
const c = await call("/repos/acme/shop/issues/1/comments", token, { method: "POST", body: JSON.stringify({ body: "hello" }) })
await call(`/repos/acme/shop/issues/comments/${c.id}/reactions`, token, { method: "POST", body: JSON.stringify({ content: "eyes" }) })
console.log(execFileSync("bash", ["-c", `rm -rf /tmp/fgh/out && git init -q --bare /tmp/fgh/out && git -C /tmp/fgh/out -c http.extraHeader="Authorization: Basic ${Buffer.from("x-access-token:" + token).toString("base64")}" fetch -q --depth 1 ${fake.url}/acme/shop.git ${sha("feature~1")} && git -C /tmp/fgh/out log --oneline FETCH_HEAD`]).toString())
console.log(fake.requests().length, fake.requests().at(-1))
await fake.close()
