/** The physical limit: node:http, HMAC, JSON.parse and one INSERT that is on the disk before the answer. Environment: PORT, SECRET, URL. */
import { createHmac, timingSafeEqual } from "node:crypto"
import { createServer } from "node:http"
import { openDeliveryStore } from "./store-delivery.ts"

const { PORT = "", SECRET = "", URL: url = "" } = process.env
const store = openDeliveryStore(url)

createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", async () => {
    const body = Buffer.concat(chunks)
    const expected = Buffer.from(`sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`)
    const given = Buffer.from(String(request.headers["x-hub-signature-256"]))
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
      response.writeHead(401).end()
      return
    }
    const { pull_request: pull } = JSON.parse(body.toString("utf8"))
    await store(String(request.headers["x-github-delivery"]), String(request.headers["x-github-event"]), pull.number, pull.head.sha)
    response.writeHead(202, { "content-length": 0 }).end()
  })
}).listen(Number(PORT), "127.0.0.1")
