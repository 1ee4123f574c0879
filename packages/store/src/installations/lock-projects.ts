import type { Transaction } from "../transaction.ts"

/**
 * Waits for intake transactions that hold a project of the installation, and makes later ones wait for this one. In the order in which
 * repositories are recorded and removed, so that two such changes never wait for each other.
 */
export async function lockProjects({ sql }: Transaction, installationId: string): Promise<void> {
  await sql`select from projects where installation_id = ${installationId} order by github_repository_id for update`
}
