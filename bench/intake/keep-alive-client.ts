import { once } from "node:events"
import { connect, type Socket } from "node:net"

/** One keep-alive connection with one request under way at most. */
export type Connection = Readonly<{
  /** Sends a request and waits for the whole answer. @returns its status */
  send(head: string, body: Buffer): Promise<number>
  close(): void
}>

/**
 * A bare HTTP/1.1 client: the load must take as little of the machine as can be. Reads answers with a content length or in chunks.
 */
export async function openConnection(port: number): Promise<Connection> {
  const socket: Socket = connect({ port, host: "127.0.0.1", noDelay: true })
  await once(socket, "connect")
  let received = ""
  let answer: PromiseWithResolvers<number> | null = null
  socket.setEncoding("latin1")
  socket.on("data", (chunk: string) => {
    received += chunk
    const status = statusOfWhole(received)
    if (status === null) return
    received = ""
    answer?.resolve(status)
  })
  const fail = (error?: Error) => answer?.reject(error ?? new Error("the server closed the connection"))
  socket.on("error", fail)
  socket.on("close", () => fail())
  return {
    send(head, body) {
      answer = Promise.withResolvers<number>()
      socket.cork()
      socket.write(head, "latin1")
      socket.write(body)
      socket.uncork()
      return answer.promise
    },
    close: () => socket.destroy(),
  }
}

/** Status of the answer when all of it is there, else null. */
function statusOfWhole(text: string): number | null {
  const end = text.indexOf("\r\n\r\n")
  if (end < 0) return null
  const head = text.slice(0, end).toLowerCase()
  const status = Number(head.slice(9, 12))
  const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1]
  const whole =
    length === undefined
      ? /\r\ntransfer-encoding: chunked/.test(head) && text.endsWith("0\r\n\r\n")
      : text.length >= end + 4 + Number(length)
  return whole || status === 204 ? status : null
}
