import { z } from "zod"
import {
  Credentials,
  ErrorBody,
  Heartbeat,
  HeartbeatAnswer,
  LEASE_TOKEN_HEADER,
  Lease,
  LeaseFailure,
  LeaseRequest,
  LeaseResult,
  RUNNER_PROTOCOL_PATH,
} from "./protocol.ts"

type JsonSchema = Record<string, unknown>

export type RunnerVerb = Readonly<{
  /** Below `RUNNER_PROTOCOL_PATH`. */
  path: string
  summary: string
  request: z.ZodType | null
  /** Null: an empty object. */
  answer: z.ZodType | null
  /** Whether the request is about a lease and carries its token. */
  onLease: boolean
  /** Statuses of errors. */
  errors: readonly number[]
}>

export type RunnerVerbId = "lease" | "credentials" | "heartbeat" | "result" | "failure" | "release"

/** What a runner can ask, by the operation's id. */
export const runnerVerbs: Readonly<Record<RunnerVerbId, RunnerVerb>> = {
  lease: {
    path: "/leases",
    summary: "Waits up to `waitMs` for a job the runner has proved to be able to do; 204 when none came.",
    request: LeaseRequest,
    answer: Lease,
    onLease: false,
    errors: [401, 403, 413, 422, 426],
  },
  credentials: {
    path: "/leases/{leaseId}/credentials",
    summary: "What the job may use, apart from the lease, so that a lease can be logged.",
    request: null,
    answer: Credentials,
    onLease: true,
    errors: [401, 409, 413, 422, 503],
  },
  heartbeat: {
    path: "/leases/{leaseId}/heartbeat",
    summary: "Renews the lease and says whether to go on.",
    request: Heartbeat,
    answer: HeartbeatAnswer,
    onLease: true,
    errors: [401, 409, 413, 422],
  },
  result: {
    path: "/leases/{leaseId}/result",
    summary: "Hands the result over and ends the lease. The same body again changes nothing.",
    request: LeaseResult,
    answer: null,
    onLease: true,
    errors: [401, 409, 413, 422],
  },
  failure: {
    path: "/leases/{leaseId}/failure",
    summary: "Ends the attempt without a result.",
    request: LeaseFailure,
    answer: null,
    onLease: true,
    errors: [401, 409, 413, 422],
  },
  release: {
    path: "/leases/{leaseId}/release",
    summary: "Gives the job back at once; no attempt is counted.",
    request: null,
    answer: null,
    onLease: true,
    errors: [401, 409, 413],
  },
}

const EMPTY: JsonSchema = { type: "object", properties: {} }

/** Inputs as a client may send them, answers as they come. */
function schemaOf(type: z.ZodType | null, io: "input" | "output"): JsonSchema {
  if (type === null) return EMPTY
  const { $schema: _, ...schema } = z.toJSONSchema(type, { io })
  return schema
}

const json = (schema: JsonSchema) => ({ "application/json": { schema } })

function operationOf(id: string, verb: RunnerVerb): JsonSchema {
  const clock = { name: "Date", in: "header", required: false, schema: { type: "string" } }
  const leaseParameters = [
    { name: "leaseId", in: "path", required: true, schema: { type: "string", format: "uuid" } },
    { name: LEASE_TOKEN_HEADER, in: "header", required: true, schema: { type: "string", minLength: 32 } },
  ]
  const errors = verb.errors.map((status) => [
    String(status),
    { description: "refused", content: json({ $ref: "#/components/schemas/Error" }) },
  ])
  return {
    operationId: id,
    summary: verb.summary,
    parameters: verb.onLease ? leaseParameters : [clock],
    requestBody: { required: true, content: json(schemaOf(verb.request, "input")) },
    responses: {
      "200": { description: "done", content: json(schemaOf(verb.answer, "output")) },
      ...(id === "lease" ? { "204": { description: "no job came within the wait" } } : {}),
      ...Object.fromEntries(errors),
    },
  }
}

/** The runner protocol as an OpenAPI 3.1 document, made from the schemas both sides parse with. Pure. */
export function runnerOpenApi(): JsonSchema {
  return {
    openapi: "3.1.0",
    info: { title: "Galley runner protocol", version: "1", license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
    servers: [{ url: RUNNER_PROTOCOL_PATH }],
    security: [{ runnerToken: [] }],
    paths: Object.fromEntries(Object.entries(runnerVerbs).map(([id, verb]) => [verb.path, { post: operationOf(id, verb) }])),
    components: {
      securitySchemes: { runnerToken: { type: "http", scheme: "bearer" } },
      schemas: { Error: schemaOf(ErrorBody, "output") },
    },
  }
}
