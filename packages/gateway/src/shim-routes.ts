import type { IncomingMessage, ServerResponse } from "node:http"
import { GalleyError } from "@galley/contract/errors"
import { redact } from "@galley/redaction/redact"
import { z } from "zod"
import type { ShimJob, ShimWrite } from "./gateway.ts"
import { readBody, sendJson } from "./http-edge.ts"
import { parseJson } from "./parse-json.ts"
import { type ShimAnswers, STATE_COMMENT_ID, shimAnswers } from "./shim-answers.ts"

/** Bytes of one request body: a comment has at most 256 KiB in UTF-8. */
const MAX_BODY_BYTES = 1024 * 1024
const MAX_WRITES = 20
const MAX_FAILURES = 100
const PAGE_SIZE = 100

const CommentBody = z.object({ body: z.string() })
const ThreadQuery = z.object({ query: z.string().includes("reviewThreads") })
const noThreads = {
  data: { repository: { pullRequest: { reviewThreads: { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } } } } },
}

type Call = Readonly<{ method: string; path: string; query: URLSearchParams; body: unknown; signal: AbortSignal }>
type Answer = Readonly<{ status: number; body: unknown; headers?: Record<string, string> }>
type Route = (call: Call) => Answer | Promise<Answer>

export type Shim = Readonly<{
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>
  writes(): readonly ShimWrite[]
  failures(): readonly string[]
}>

/**
 * GitHub as PR-Agent needs it for one review: the allow-listed reads from the job, writes captured and not sent. Anything else is answered
 * 403 and judged `github_shim_refused`; a failing answer is judged with its own code.
 */
export function openShim(
  job: ShimJob,
  origin: string,
  secrets: readonly string[],
  signal: AbortSignal,
  judge: (error: unknown) => void,
): Shim {
  const repositoryPath = `/repos/${job.pullRequest.owner}/${job.pullRequest.repository}`
  const answers = shimAnswers(job, origin, repositoryPath, secrets)
  const writes: ShimWrite[] = []
  const failures: string[] = []

  function write(method: ShimWrite["method"], call: Call, answer: (body: string) => Answer): Answer {
    const parsed = CommentBody.safeParse(call.body)
    if (!parsed.success || writes.length >= MAX_WRITES) return refused
    writes.push({ method, path: call.path, body: parsed.data.body })
    return answer(parsed.data.body)
  }

  const routes = shimRoutes(job, origin, repositoryPath, answers, write)

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? ""
    const [path = "", query = ""] = (request.url ?? "").split("?", 2)
    let result: Answer
    try {
      const body = parseJson((await readBody(request, MAX_BODY_BYTES, "github_shim_refused")).toString("utf8"))
      const route = routes.get(`${method} ${path}`) ?? contentsRoute(method, path, repositoryPath, answers)
      result = (await route?.({ method, path, query: new URLSearchParams(query), body, signal })) ?? refused
      if (result === refused)
        judge(new GalleyError("github_shim_refused", `the engine asked GitHub for more than the job allows: ${method} ${path}`))
    } catch (error) {
      judge(error)
      result = { status: 500, body: { message: "not available" } }
    }
    // A missing file is an ordinary answer: PR-Agent asks for files that only one side has.
    if (result.status >= 400 && result.status !== 404 && failures.length < MAX_FAILURES) {
      failures.push(redact(`${method} ${path.slice(0, 200)} -> ${result.status}`, secrets).text)
    }
    sendJson(response, result.status, result.body, result.headers)
  }

  return { answer, writes: () => [...writes], failures: () => [...failures] }
}

const refused: Answer = { status: 403, body: { message: "not available" } }
const ok = (body: unknown): Answer => ({ status: 200, body })

/** The allow-list, by method and exact path. */
function shimRoutes(
  job: ShimJob,
  origin: string,
  repositoryPath: string,
  answers: ShimAnswers,
  write: (method: ShimWrite["method"], call: Call, answer: (body: string) => Answer) => Answer,
): ReadonlyMap<string, Route> {
  const { checkout, pullRequest } = job
  const pull = `${repositoryPath}/pulls/${pullRequest.number}`
  const comments = `${repositoryPath}/issues/${pullRequest.number}/comments`
  const pages =
    (all: readonly unknown[]): Route =>
    ({ path, query }) =>
      pageOf(all, query, `${origin}${path}`)
  return new Map<string, Route>([
    ["GET /user", () => ok(answers.user())],
    [`GET ${repositoryPath}`, () => ok(answers.repository())],
    [`GET ${repositoryPath}/languages`, () => ok({})],
    [`GET ${repositoryPath}/compare/${checkout.baseSha}...${checkout.headSha}`, () => ok(answers.comparison())],
    [`GET ${pull}`, () => ok(answers.pullRequest())],
    [`GET ${pull}/commits`, pages(answers.commits())],
    [`GET ${pull}/files`, pages(answers.files())],
    [`GET ${comments}`, pages(answers.comments())],
    ["POST /graphql", ({ body }) => (ThreadQuery.safeParse(body).success ? ok(noThreads) : refused)],
    [`POST ${comments}`, (call) => write("POST", call, (body) => ({ status: 201, body: answers.comment(STATE_COMMENT_ID + 1, body) }))],
    [
      `PATCH ${repositoryPath}/issues/comments/${STATE_COMMENT_ID}`,
      (call) => write("PATCH", call, (body) => ok(answers.comment(STATE_COMMENT_ID, body))),
    ],
  ])
}

/** Pages the way GitHub does: the next one is named in `Link`, at the shim's own address. */
function pageOf(all: readonly unknown[], query: URLSearchParams, address: string): Answer {
  const page = Math.max(1, Number.parseInt(query.get("page") ?? "1", 10) || 1)
  const rest = all.slice((page - 1) * PAGE_SIZE)
  const next: Record<string, string> = rest.length > PAGE_SIZE ? { link: `<${address}?page=${page + 1}>; rel="next"` } : {}
  return { status: 200, body: rest.slice(0, PAGE_SIZE), headers: next }
}

/** Contents by path: percent-decoded once, and only a path that stays one in the repository. */
function contentsRoute(method: string, path: string, repositoryPath: string, answers: ShimAnswers): Route | undefined {
  const prefix = `${repositoryPath}/contents/`
  if (method !== "GET" || !path.startsWith(prefix)) return undefined
  const decoded = decodePath(path.slice(prefix.length))
  if (decoded === null) return undefined
  return async ({ query, signal }) => {
    const content = await answers.contents(decoded, query.get("ref") ?? "", signal)
    return content === null ? { status: 404, body: { message: "Not Found" } } : ok(content)
  }
}

/** Null for a broken escape, and for a path with an empty, `.` or `..` part, however it was spelled. */
function decodePath(encoded: string): string | null {
  if (!/^(?:[^%]|%[0-9A-Fa-f]{2})+$/.test(encoded)) return null
  const bytes = encoded.replace(/%(..)/g, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  const path = Buffer.from(bytes, "latin1").toString("utf8")
  return path.split("/").some((part) => part === "" || part === "." || part === "..") ? null : path
}
