import type { Transaction } from "../transaction.ts"

/**
 * Whether an event tells something new of an installation, by GitHub's `updated_at`; if so, the time is kept. Events come in any order,
 * and one that failed is sent again up to three days later. Of a removed installation only what came after its removal is news: GitHub
 * never uses an id twice. An installation that is not known yet has no past.
 *
 * @param changedAt null when the event does not say: then it counts as new
 */
export async function noteInstallationChange({ sql }: Transaction, installation: { id: string }, changedAt: Date | null): Promise<boolean> {
  if (changedAt === null) return true
  const noted = await sql`
    update installations set changed_at = ${changedAt}
    where id = ${installation.id}
      and (changed_at is null or changed_at < ${changedAt} or (changed_at = ${changedAt} and removed_at is null))`
  return noted.count === 1
}
