/** The peer: @octokit/webhooks with the same INSERT in its handler. Environment: PORT, SECRET, URL. */
import { createServer } from "node:http"
import { createNodeMiddleware, Webhooks } from "@octokit/webhooks"
import { openDeliveryStore } from "./store-delivery.ts"

const { PORT = "", SECRET = "", URL: url = "" } = process.env
const store = openDeliveryStore(url)
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const webhooks = new Webhooks({ secret: SECRET, log: silent })
webhooks.on("pull_request", async ({ id, name, payload }) => {
  await store(id, name, payload.pull_request.number, payload.pull_request.head.sha)
})

createServer(createNodeMiddleware(webhooks, { path: "/", log: silent })).listen(Number(PORT), "127.0.0.1")
