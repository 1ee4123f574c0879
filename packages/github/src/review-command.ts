/**
 * Whether a comment asks for a review: `/review` in any letter case as the first word of the first line that is not blank. The rest of that
 * line and everything below is ignored and reaches nothing. Quoted (`> /review`), fenced or indented code is no command, because then the
 * line does not start with the word.
 */
export function isReviewCommand(body: string): boolean {
  const line = body.split(/\r\n|\r|\n/).find((text) => text.trim() !== "")
  if (line === undefined || /^(?: {4,}|\t)/.test(line)) return false
  return /^\/review(?:\s|$)/i.test(line.trim())
}
