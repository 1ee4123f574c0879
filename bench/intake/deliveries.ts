import { createHmac, randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"

const recorded = new URL("../../fakes/github/fixtures/webhooks/pr.opened.json", import.meta.url)

export const BENCH_SECRET = "webhook secret of the benchmark"

/** Requests as bytes, ready to be written to a connection. */
export type Deliveries = Readonly<{
  installationId: number
  repository: Readonly<{ id: number; owner: string; name: string }>
  /** Head and body of the next request: a new delivery id, and the pull requests one after the other. */
  next(): readonly [head: string, body: Buffer]
}>

/** The recorded payload of an opened pull request, compact as GitHub sends it, for `pullRequests` different numbers. */
export function makeDeliveries(path: string, pullRequests: number): Deliveries {
  const payload = JSON.parse(readFileSync(recorded, "utf8"))
  const bodies = Array.from({ length: pullRequests }, (_, index) => {
    const number = index + 1
    const text = JSON.stringify({ ...payload, number, pull_request: { ...payload.pull_request, number } })
    const body = Buffer.from(text)
    const signature = createHmac("sha256", BENCH_SECRET).update(body).digest("hex")
    return { body, signature }
  })
  let sent = 0
  return {
    installationId: payload.installation.id,
    repository: { id: payload.repository.id, owner: payload.repository.owner.login, name: payload.repository.name },
    next() {
      const { body, signature } = bodies[sent++ % bodies.length] ?? { body: Buffer.alloc(0), signature: "" }
      const head = [
        `POST ${path} HTTP/1.1`,
        "Host: 127.0.0.1",
        "User-Agent: GitHub-Hookshot/044aadd",
        "Accept: */*",
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
        `X-GitHub-Delivery: ${randomUUID()}`,
        "X-GitHub-Event: pull_request",
        `X-Hub-Signature-256: sha256=${signature}`,
        "",
        "",
      ]
      return [head.join("\r\n"), body]
    },
  }
}
