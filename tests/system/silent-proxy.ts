import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"

/** A TCP proxy whose answers can be held back. */
export type SilentProxy = Readonly<{
  port: number
  /** From the first request on that contains `text`, no answer comes through any more. */
  holdAnswersAfter(text: string): void
  close(): void
}>

export async function startSilentProxy(targetPort: number): Promise<SilentProxy> {
  const sockets = new Set<Socket>()
  let trigger: string | null = null
  let held = false
  const server = createServer((client) => {
    const target = connect(targetPort, "127.0.0.1")
    let seen = ""
    for (const socket of [client, target]) {
      sockets.add(socket)
      // Either side may break off; the other one follows.
      socket.on("error", () => undefined)
      socket.on("close", () => [client, target].forEach((one) => void one.destroy()))
    }
    client.on("data", (chunk) => {
      seen = (seen + chunk.toString("latin1")).slice(-100_000)
      if (trigger !== null && seen.includes(trigger)) held = true
      target.write(chunk)
    })
    target.on("data", (chunk) => {
      if (!held) client.write(chunk)
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the proxy has no port")
  return {
    port: address.port,
    holdAnswersAfter(text) {
      trigger = text
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
