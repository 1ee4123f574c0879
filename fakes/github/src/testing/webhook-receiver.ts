import { once } from "node:events"
import { createServer, type IncomingHttpHeaders } from "node:http"

export type Received = Readonly<{ headers: IncomingHttpHeaders; body: Buffer; payload: Record<string, unknown> }>

/** A receiver of webhooks that keeps what comes and answers `status`. */
export type WebhookReceiver = { readonly url: string; readonly received: Received[]; status: number; close(): Promise<void> }

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    received.push({ headers: request.headers, body, payload: JSON.parse(body.toString()) })
    response.writeHead(receiver.status).end("noted")
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address ? address.port : 0
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${port}/webhooks/github`,
    received,
    status: 202,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, "close")
    },
  }
  return receiver
}
