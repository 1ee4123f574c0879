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

type Verb = Readonly<{
  path: string
  id: string
  summary: string
  request: z.ZodType | null
  /** Null: an empty object. */
  answer: z.ZodType | null
  /** Whether the request is about a lease and carries its token. */
  onLease: boolean
  /** Statuses of errors beside 401. */
  errors: readonly number[]
}>

const verbs: readonly Verb[] = [
  {
    path: "/leases",
    id: "lease",
    summary: "Waits up to `waitMs` for a job the runner has proved to be able to do; 204 when none came.",
    request: LeaseRequest,
    answer: Lease,
    onLease: false,
    errors: [403, 413, 422, 426],
  },
  {
    path: "/leases/{leaseId}/credentials",
    id: "credentials",
    summary: "What the job may use, apart from the lease, so that a lease can be logged.",
    request: null,
    answer: Credentials,
    onLease: true,
    errors: [409],
  },
  {
    path: "/leases/{leaseId}/heartbeat",
    id: "heartbeat",
    summary: "Renews the lease and says whether to go on.",
    request: Heartbeat,
    answer: HeartbeatAnswer,
    onLease: true,
    errors: [409, 413, 422],
  },
  {
    path: "/leases/{leaseId}/result",
    id: "result",
    summary: "Hands the result over and ends the lease. The same body again changes nothing.",
    request: LeaseResult,
    answer: null,
    onLease: true,
    errors: [409, 413, 422],
  },
  {
    path: "/leases/{leaseId}/failure",
    id: "failure",
    summary: "Ends the attempt without a result.",
    request: LeaseFailure,
    answer: null,
    onLease: true,
    errors: [409, 413, 422],
  },
  {
    path: "/leases/{leaseId}/release",
    id: "release",
    summary: "Gives the job back at once; no attempt is counted.",
    request: null,
    answer: null,
    onLease: true,
    errors: [409],
  },
]

const EMPTY: JsonSchema = { type: "object", properties: {} }

/** Inputs as a client may send them, answers as they come. */
function schemaOf(type: z.ZodType | null, io: "input" | "output"): JsonSchema {
  if (type === null) return EMPTY
  const { $schema: _, ...schema } = z.toJSONSchema(type, { io })
  return schema
}

const json = (schema: JsonSchema) => ({ "application/json": { schema } })

function operationOf(verb: Verb): JsonSchema {
  const leaseParameters = [
    { name: "leaseId", in: "path", required: true, schema: { type: "string", format: "uuid" } },
    { name: LEASE_TOKEN_HEADER, in: "header", required: true, schema: { type: "string", minLength: 32 } },
  ]
  const errors = [401, ...verb.errors].map((status) => [
    String(status),
    { description: "refused", content: json({ $ref: "#/components/schemas/Error" }) },
  ])
  return {
    operationId: verb.id,
    summary: verb.summary,
    ...(verb.onLease ? { parameters: leaseParameters } : {}),
    requestBody: { required: true, content: json(schemaOf(verb.request, "input")) },
    responses: {
      "200": { description: "done", content: json(schemaOf(verb.answer, "output")) },
      ...(verb.id === "lease" ? { "204": { description: "no job came within the wait" } } : {}),
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
    paths: Object.fromEntries(verbs.map((verb) => [verb.path, { post: operationOf(verb) }])),
    components: {
      securitySchemes: { runnerToken: { type: "http", scheme: "bearer" } },
      schemas: { Error: schemaOf(ErrorBody, "output") },
    },
  }
}
