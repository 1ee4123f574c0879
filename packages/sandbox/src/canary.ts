import { createSocket } from "node:dgram"
import { once } from "node:events"
import { connect, createServer } from "node:net"
import { networkInterfaces } from "node:os"
import { GalleyError } from "@galley/contract/errors"

/**
 * A live target that counts who reaches it. Without one a refused connection proves nothing: a closed port answers the same way.
 * Whoever opens it has been reached through it once already, which is not counted.
 */
export type Canary = Readonly<{ operation: "connect" | "send_udp"; host: string; port: number; arrivals: () => number; close: () => void }>

/** Addresses of this machine that a canary can stand on: three of loopback, and its own on real interfaces. */
export function canaryHosts(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const own = addresses.filter(({ internal, address }) => !internal && !address.startsWith("fe80")).map(({ address }) => address)
  return ["127.0.0.1", "127.0.0.2", ...(addresses.some(({ address }) => address === "::1") ? ["::1"] : []), ...own]
}

/** Opens a TCP canary; `port` 0 = any. Throws `boundary_unavailable` when it cannot be opened or reached. */
export async function openTcpCanary(host: string, port: number, signal: AbortSignal): Promise<Canary> {
  let arrivals = -1
  const server = createServer((socket) => {
    arrivals += 1
    socket.on("error", () => undefined).destroy()
  })
  const close = () => void server.close()
  try {
    await once(server.listen(port, host), "listening", { signal })
    const bound = portOf(server.address())
    const control = connect(bound, host)
    await Promise.all([once(control, "connect", { signal }), once(server, "connection", { signal })])
    control.destroy()
    return { operation: "connect", host, port: bound, arrivals: () => arrivals, close }
  } catch (cause) {
    close()
    throw new GalleyError("boundary_unavailable", `no canary on ${host} port ${port}`, { cause })
  }
}

/** Opens a UDP canary on any port. Throws `boundary_unavailable` when it cannot be opened or reached. */
export async function openUdpCanary(host: string, signal: AbortSignal): Promise<Canary> {
  let arrivals = -1
  const socket = createSocket(host.includes(":") ? "udp6" : "udp4", () => {
    arrivals += 1
  })
  const close = () => void socket.close()
  try {
    socket.bind(0, host)
    await once(socket, "listening", { signal })
    const { port } = socket.address()
    const arrived = once(socket, "message", { signal })
    socket.send("galley", port, host)
    await arrived
    return { operation: "send_udp", host, port, arrivals: () => arrivals, close }
  } catch (cause) {
    close()
    throw new GalleyError("boundary_unavailable", `no UDP canary on ${host}`, { cause })
  }
}

function portOf(address: ReturnType<ReturnType<typeof createServer>["address"]>): number {
  if (address === null || typeof address === "string") throw new GalleyError("boundary_unavailable", "a canary without a port")
  return address.port
}
