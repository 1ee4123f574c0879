import { defaultJobLimits } from "@galley/contract/limits"
import type { Credentials, Heartbeat, Lease, LeaseResult } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"

/** Values for tests: what a server grants, with whatever a test wants different. */
export const HEAD = "b".repeat(40)

export function exampleLease(over: Partial<Lease> = {}): Lease {
  return {
    leaseId: "0192f0c1-0000-7000-8000-000000000001",
    leaseToken: "lease-token-of-these-tests-0123456789",
    fence: 3,
    leaseMs: 60_000,
    heartbeatMs: 15_000,
    attempt: 1,
    job: {
      id: "0192f0c1-0000-7000-8000-000000000002",
      kind: "dynamic",
      headSha: HEAD,
      baseSha: "a".repeat(40),
      previousHeadSha: null,
      pullRequest: {
        owner: "octo",
        repository: "shop",
        number: 7,
        title: "Add discounts",
        description: "",
        author: "alice",
        baseRef: "main",
        headRef: "discounts",
        webUrl: "https://github.example/octo/shop/pull/7",
        gitUrl: "https://github.example/octo/shop.git",
      },
    },
    settings: { model: "any-model", skill: null, maxFindings: 10 },
    limits: defaultJobLimits,
    prior: { state: null, tampered: false },
    botLogin: "galley[bot]",
    usageSoFar: noUsage,
    runUrl: "https://galley.example/runs/0192f0c1-0000-7000-8000-000000000001",
    ...over,
  }
}

export const exampleCredentials: Credentials = {
  githubToken: "ghs_token0of0these0tests",
  model: {
    baseUrl: "https://models.example/v1",
    apiKey: "model-key-of-these-tests",
    upstreamModel: "vendor/model",
    contextTokens: 64_000,
    outputTokens: 4_000,
    price: null,
  },
}

export const exampleBeat: Heartbeat = { phase: "reviewing", progress: "2 model calls", usage: { ...noUsage, modelCalls: 2 } }

export function exampleSkip(): LeaseResult {
  return {
    outcome: "skipped",
    fence: 3,
    reviewedSha: HEAD,
    code: "no_reviewable_files",
    coverage: {
      status: "complete",
      changedFiles: 0,
      reviewedFiles: 0,
      examinedPaths: [],
      omitted: { omissions: [], total: 0 },
      comparison: "none",
    },
    usage: noUsage,
    trace: { engine: { name: "none", version: "0" }, steps: [], droppedFindings: [] },
  }
}
