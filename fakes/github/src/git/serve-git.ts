import { spawn } from "node:child_process"
import { once } from "node:events"
import { basename, dirname } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { gitEnvironment } from "./run-git.ts"

/** What the mirror allows: any object id may be fetched, filters work, nothing may be pushed. */
const served = {
  "safe.directory": "*",
  "uploadpack.allowAnySHA1InWant": "true",
  "uploadpack.allowFilter": "true",
  "http.receivepack": "false",
}

/**
 * Answers one smart-HTTP request with the real `git http-backend`.
 *
 * @param path path within the repository: `/info/refs` or `/git-upload-pack`
 */
export async function serveGit(request: Request, mirrorDirectory: string, path: string): Promise<Response> {
  const backend = spawn("git", ["http-backend"], {
    env: backendEnvironment(request, mirrorDirectory, path),
    stdio: ["pipe", "pipe", "ignore"],
    signal: request.signal,
    killSignal: "SIGKILL",
  })
  // A client that leaves aborts the child; that is no fault of the server.
  backend.on("error", () => backend.stdout.destroy())
  const input = request.body ? Readable.fromWeb(request.body as Parameters<typeof Readable.fromWeb>[0]) : Readable.from([])
  pipeline(input, backend.stdin).catch(() => backend.kill("SIGKILL"))
  const { head, rest } = await readHead(backend.stdout)
  const { status, headers } = parseHead(head)
  backend.stdout.unshift(rest)
  return new Response(Readable.toWeb(backend.stdout) as ReadableStream, { status, headers })
}

function backendEnvironment(request: Request, mirrorDirectory: string, path: string): Record<string, string> {
  const url = new URL(request.url)
  const header = (name: string) => request.headers.get(name) ?? ""
  const settings = Object.entries(served)
  return {
    ...gitEnvironment,
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], at) => [
        [`GIT_CONFIG_KEY_${at}`, key],
        [`GIT_CONFIG_VALUE_${at}`, value],
      ]),
    ),
    GIT_PROJECT_ROOT: dirname(mirrorDirectory),
    GIT_HTTP_EXPORT_ALL: "1",
    GIT_PROTOCOL: header("git-protocol"),
    PATH_INFO: `/${basename(mirrorDirectory)}${path}`,
    REQUEST_METHOD: request.method,
    QUERY_STRING: url.search.slice(1),
    CONTENT_TYPE: header("content-type"),
    HTTP_CONTENT_ENCODING: header("content-encoding"),
    REMOTE_ADDR: "127.0.0.1",
    REMOTE_USER: "",
  }
}

/** Reads up to the empty line that ends a CGI head. */
async function readHead(output: Readable): Promise<{ head: string; rest: Buffer }> {
  let read = Buffer.alloc(0)
  while (true) {
    const end = read.indexOf("\r\n\r\n")
    if (end >= 0) return { head: read.subarray(0, end).toString(), rest: read.subarray(end + 4) }
    const chunk: Buffer | null = output.read()
    if (chunk) read = Buffer.concat([read, chunk])
    else if (output.readableEnded || output.destroyed) throw new Error("git http-backend ended without an answer")
    else await Promise.race([once(output, "readable"), once(output, "end"), once(output, "close")])
  }
}

function parseHead(head: string): { status: number; headers: Headers } {
  const headers = new Headers()
  for (const line of head.split("\r\n")) {
    const colon = line.indexOf(":")
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  const status = Number(headers.get("status")?.slice(0, 3) ?? 200)
  headers.delete("status")
  return { status, headers }
}
