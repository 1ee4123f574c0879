import { errorCode } from "@galley/contract/errors"
import type { GitHubCall } from "./github-app.ts"

/** Whether the App still has this installation, suspended or not. @throws codes of `githubFault` when GitHub does not say */
export async function isInstalled(call: GitHubCall, installationId: number): Promise<boolean> {
  try {
    await call("read", "GET /app/installations/{installation_id}", { installation_id: installationId })
    return true
  } catch (error) {
    if (errorCode(error) === "not_found") return false
    throw error
  }
}
