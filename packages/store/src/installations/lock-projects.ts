import type { Transaction } from "../transaction.ts"

/** Waits for intake transactions that hold a project of the installation, and makes later ones wait for this one. */
export async function lockProjects({ sql }: Transaction, installationId: string): Promise<void> {
  await sql`select id from projects where installation_id = ${installationId} order by id for update`
}
