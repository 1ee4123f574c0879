import { spawn } from "node:child_process"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { createGunzip } from "node:zlib"

export type SeenRequest = Readonly<{ method: string; url: string; authorization: string | undefined }>

export type GitServer = Readonly<{
  /** Address of a repository below the served folder. */
  url(repository: string): string
  seen: readonly SeenRequest[]
  /** Answers instead of git while it returns true: it may also just never answer. */
  intercept(handler: (request: IncomingMessage, response: ServerResponse) => boolean): void
  close(): Promise<void>
}>

/** Serves the bare repositories below `root` with real `git http-backend`, on loopback. */
export async function startGitServer(root: string): Promise<GitServer> {
  const seen: SeenRequest[] = []
  let intercept: (request: IncomingMessage, response: ServerResponse) => boolean = () => false
  const server = createServer((request, response) => {
    seen.push({ method: request.method ?? "", url: request.url ?? "", authorization: request.headers.authorization })
    if (!intercept(request, response)) answer(root, request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: (repository) => `http://127.0.0.1:${port}/${repository}`,
    seen,
    intercept(handler) {
      intercept = handler
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function answer(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", "http://127.0.0.1")
  const backend = spawn("git", ["http-backend"], {
    env: {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: "/nonexistent",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      REQUEST_METHOD: request.method ?? "GET",
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers["content-type"] ?? "",
    },
    stdio: ["pipe", "pipe", "ignore"],
  })
  const body = request.headers["content-encoding"] === "gzip" ? request.pipe(createGunzip()) : request
  body.pipe(backend.stdin).on("error", () => backend.kill())
  response.on("close", () => backend.kill())
  let head = Buffer.alloc(0)
  const onHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf("\r\n\r\n")
    if (end < 0) return
    backend.stdout.off("data", onHead)
    for (const line of head.toString("latin1", 0, end).split("\r\n")) {
      const [name = "", value = ""] = line.split(/: (.*)/s)
      if (name === "Status") response.statusCode = Number.parseInt(value, 10)
      else response.setHeader(name, value)
    }
    response.write(head.subarray(end + 4))
    backend.stdout.pipe(response)
  }
  backend.stdout.on("data", onHead)
}
