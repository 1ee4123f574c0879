import { z } from "zod"

const KIB = 1024
const MIB = 1024 * 1024

/**
 * The bounds of one job. Operator-owned: they come with the lease, never from a repository, a skill or project settings.
 * `docs/operating.md` says which of them an operator can set.
 */
export const JobLimits = z.strictObject({
  /** Whole job on the runner, from the lease to the result, in milliseconds. */
  jobTimeoutMs: z.int().min(10_000).max(3_600_000).default(600_000),
  maxModelCalls: z.int().min(1).max(200).default(30),
  /** Input plus output tokens over all calls of the job, retries and hidden calls included. */
  maxModelTokens: z.int().min(1_000).default(120_000),
  maxToolCalls: z.int().min(0).default(200),
  maxToolFiles: z.int().min(0).default(100),
  maxToolResultBytes: z.int().default(64 * KIB),
  maxToolResultsBytes: z.int().default(4 * MIB),
  /** Bytes of one model request body as sent by an engine. */
  maxModelRequestBytes: z.int().default(8 * MIB),
  /** Bytes of one model answer, streamed or not. */
  maxModelResponseBytes: z.int().default(4 * MIB),
  /** Milliseconds a model call may take as a whole. */
  modelCallTimeoutMs: z.int().default(300_000),
  /** Milliseconds without a byte from the model after which a call is given up. */
  modelIdleTimeoutMs: z.int().default(120_000),
  maxTreeEntries: z.int().default(20_000),
  maxFileBytes: z.int().default(512 * KIB),
  maxLineBytes: z.int().default(64 * KIB),
  maxExposedBytes: z.int().default(64 * MIB),
  /** Download and disk of the checkout. */
  maxCheckoutBytes: z.int().default(256 * MIB),
  maxPathBytes: z.int().default(1_024),
  maxPathDepth: z.int().default(64),
  maxDiffBytes: z.int().default(2 * MIB),
  /** Omissions kept with their path; more are only counted. */
  maxOmissions: z.int().default(500),
  /** Resident memory of all processes of a slot. */
  maxEngineMemoryBytes: z.int().default(1536 * MIB),
})
export type JobLimits = z.infer<typeof JobLimits>

/** The limits when the operator sets none. */
export const defaultJobLimits: JobLimits = JobLimits.parse({})

/** Bytes of one result body on the runner protocol. */
export const MAX_RESULT_BYTES = MIB
/** Bytes of a form or JSON body that a page is sent: a skill, every byte of it escaped, with room to spare. */
export const MAX_PAGE_REQUEST_BYTES = 256 * KIB
/** UTF-16 code units of a rendered comment; GitHub refuses 65,536. */
export const MAX_COMMENT_CHARACTERS = 65_000
/** UTF-8 bytes of a rendered comment: GitHub's API bound of 64 KiB, less room for the JSON around it. */
export const MAX_COMMENT_BYTES = 64 * KIB - 1
/** UTF-8 bytes of a project's skill. */
export const MAX_SKILL_BYTES = 16 * KIB
/** UTF-8 bytes of a webhook body. */
export const MAX_WEBHOOK_BYTES = 25 * 1000 * 1000
/** UTF-8 bytes of pull request title and body that reach an engine. */
export const MAX_TITLE_BYTES = 1 * KIB
export const MAX_DESCRIPTION_BYTES = 16 * KIB
