import type { Credential } from "./credential.ts"
import type { Permissions } from "./state.ts"

const KEPT = 10_000

/** One request this GitHub received. It never holds a token. */
export type RequestRecord = Readonly<{
  at: string
  method: string
  /** Path and query as received. */
  path: string
  /** Status answered; 0 when the connection ended without an answer. */
  status: number
  caller: Readonly<{
    kind: Credential["kind"] | "refused"
    login?: string
    installationId?: number
    repositoryIds?: readonly number[]
    permissions?: Permissions
  }>
  /** The fault that was injected, or null. */
  fault: string | null
}>

/** The newest 10,000 requests, oldest first. */
export type RequestLog = Readonly<{ add(record: RequestRecord): void; list(): readonly RequestRecord[]; clear(): void }>

export function createRequestLog(): RequestLog {
  let records: RequestRecord[] = []
  return {
    add(record) {
      records.push(record)
      if (records.length > KEPT * 2) records = records.slice(-KEPT)
    },
    list: () => records.slice(-KEPT),
    clear() {
      records = []
    },
  }
}

/** What may be told about a caller. Undefined: the credential was refused. */
export function describeCaller(credential: Credential | undefined): RequestRecord["caller"] {
  if (!credential) return { kind: "refused" }
  if (credential.kind === "user") return { kind: "user", login: credential.account.login }
  if (credential.kind !== "installation") return { kind: credential.kind }
  const { installation, repositoryIds, permissions } = credential
  return { kind: "installation", installationId: installation.id, repositoryIds: [...repositoryIds], permissions }
}
