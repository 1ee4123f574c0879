import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import { onTestFinished } from "vitest"

/** Serves an app on a free port of 127.0.0.1 until the test ends. @returns its address, without a slash at the end */
export async function listen(fetchApp: (request: Request) => Response | Promise<Response>, port = 0): Promise<string> {
  const server = createServer(async (incoming, outgoing) => {
    const answer = await fetchApp(await requestOf(incoming))
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()))
  })
  server.listen(port, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the listener has no port")
  return `http://127.0.0.1:${address.port}`
}

async function requestOf(incoming: IncomingMessage): Promise<Request> {
  const chunks: Uint8Array[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const headers = Object.entries(incoming.headers).filter((header): header is [string, string] => typeof header[1] === "string")
  const body = incoming.method === "POST" ? { body: Buffer.concat(chunks) } : {}
  return new Request(`http://127.0.0.1${incoming.url}`, { method: incoming.method ?? "GET", headers, ...body })
}
