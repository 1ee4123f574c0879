import { setTimeout as delay } from "node:timers/promises"
import { GalleyError } from "@galley/contract/errors"
import { findSession } from "@galley/store/sessions/find-session"
import { getRun, type RunDetail } from "@galley/store/runs/get-run"
import { getWorkspace } from "@galley/store/workspaces/get-workspace"
import { type SSEStreamingApi, streamSSE } from "hono/streaming"
import { requireUser } from "../access/require-access.ts"
import type { PageContext, PageParts } from "../page-env.ts"
import { isOver, RunBody, RunStatus } from "../views/run-parts.tsx"

/** Proxies cut connections that stay silent for a minute. */
const HEARTBEAT_MS = 15_000
