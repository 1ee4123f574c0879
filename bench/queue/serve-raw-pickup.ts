/**
 * The physical limit of a pickup: node:http, HMAC, JSON.parse and one INSERT that is on the disk before the answer; then the one waiting poll
 * is answered with what one `UPDATE ... SKIP LOCKED` takes. Environment: PORT, SECRET, URL.
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import { createServer, type ServerResponse } from "node:http"
import postgres from "postgres"

const { PORT = "", SECRET = "", URL: url = "" } = process.env
const sql = postgres(url, { max: 10, onnotice: () => {} })
let poll: ServerResponse | null = null

async function store(id: string, body: Buffer): Promise<void> {
  const { pull_request: pull } = JSON.parse(body.toString("utf8"))
  await sql`insert into jobs (id, pull_request, head_sha) values (${id}, ${pull.number}, ${pull.head.sha})`
}

async function answerPoll(answer: ServerResponse): Promise<void> {
  const [job] = await sql`
    update jobs set state = 1, fence = fence + 1, lease_until = now() + interval '1 minute'
    where id = (select id from jobs where state = 0 order by queued_at limit 1 for update skip locked) returning *`
  answer.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(job))
}

createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", async () => {
    if (request.url === "/leases") {
      poll = response
      return
    }
    const body = Buffer.concat(chunks)
    const expected = Buffer.from(`sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`)
    const given = Buffer.from(String(request.headers["x-hub-signature-256"]))
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
      response.writeHead(401).end()
      return
    }
    await store(String(request.headers["x-github-delivery"]), body)
    response.writeHead(202, { "content-length": 0 }).end()
    const waiting = poll
    poll = null
    if (waiting !== null) await answerPoll(waiting)
  })
}).listen(Number(PORT), "127.0.0.1")
