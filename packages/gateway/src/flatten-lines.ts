/**
 * Replaces the characters that PR-Agent (Python's `splitlines`) takes for a line break and git does not, by U+FFFD: with them a file
 * could forge a file or hunk header in the prompt. "\n" and "\r\n" stay.
 */
export function flattenLines(text: string): string {
  return text.replace(/[\v\f\x1c-\x1e\x85\u2028\u2029]|\r(?!\n)/g, "\ufffd")
}
