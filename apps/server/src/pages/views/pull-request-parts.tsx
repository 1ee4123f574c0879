import { Badge, ShaText } from "./parts.tsx"

/** Whether the newest head is reviewed. */
export function LastReview({ headSha, lastReviewedSha }: { headSha: string; lastReviewedSha: string | null }) {
  if (lastReviewedSha === null) return <span class="muted">none yet</span>
  if (lastReviewedSha === headSha) return <Badge tone="good">This head</Badge>
  return (
    <>
      <Badge tone="warn">Older head</Badge> <ShaText sha={lastReviewedSha} />
    </>
  )
}

/** The button by which a person asks for a review. */
export function ReviewNow({ action, number, enabled }: { action: string; number: number; enabled: boolean }) {
  return (
    <form method="post" action={action}>
      <button type="submit" disabled={!enabled} aria-label={`Review pull request ${number} now`}>
        Review now
      </button>
    </form>
  )
}
