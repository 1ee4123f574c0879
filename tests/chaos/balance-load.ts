import { once } from "node:events"
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"

/** One address in front of several servers. */
export type Balancer = Readonly<{ url: string; close(): Promise<void> }>

/**
 * Hands each request to the next of the `targets` (origins) that takes connections. As with any balancer, one that breaks off under way is
 * answered with 502 and not tried elsewhere: it may have taken effect.
 */
export async function balanceLoad(targets: () => readonly string[]): Promise<Balancer> {
  let turn = 0
  const server = createServer((incoming, outgoing) => {
    turn += 1
    const origins = targets()
    pass(incoming, outgoing, [...origins.slice(turn % origins.length), ...origins.slice(0, turn % origins.length)])
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the balancer has no port")
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}

function pass(incoming: IncomingMessage, outgoing: ServerResponse, [origin, ...others]: readonly string[]): void {
  if (origin === undefined) {
    outgoing.writeHead(502).end()
    return
  }
  const { method, headers, url } = incoming
  const onward = request(`${origin}${url}`, { method, headers, agent: false })
  // Nothing of the body is read before somebody takes it.
  onward.on("socket", (socket) => socket.once("connect", () => incoming.pipe(onward)))
  onward.on("response", (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(outgoing)
    answer.on("error", () => outgoing.destroy())
  })
  onward.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "ECONNREFUSED") pass(incoming, outgoing, others)
    else if (outgoing.headersSent) outgoing.destroy()
    else outgoing.writeHead(502).end()
  })
  // Who leaves takes his request along.
  outgoing.on("close", () => onward.destroy())
}
