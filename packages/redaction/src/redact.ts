import { redactKnownValues } from "./known-values.ts"
import { redactPrivateKeys } from "./private-keys.ts"
import { redactLine, secretHint } from "./rules.ts"

/**
 * Takes recognised secrets out of `text`. Pure; time grows linearly with the text, also on hostile input.
 *
 * Each secret becomes `[redacted:<rule>]`; the number of lines, and in a diff the sign of each line, stay as they were, so that line
 * numbers remain right. Labels and user names beside a secret stay readable. Redacting twice changes nothing.
 *
 * Not recognised: a secret without a known shape that has no label, or a label but only letters; a secret split over several lines; the
 * middle of a private key whose first and last line are both missing.
 *
 * @param knownSecrets values to remove wherever they stand, also base64 and URL encoded; those under 8 characters are ignored,
 * because they would match ordinary text
 * @returns the clean text and how many secrets were replaced
 */
export function redact(text: string, knownSecrets: readonly string[]): { text: string; count: number } {
  const known = redactKnownValues(text, knownSecrets)
  const keys = redactPrivateKeys(known.text)
  const lines = redactLines(keys.text)
  return { text: lines.text, count: known.count + keys.count + lines.count }
}

/** Runs the rules only on lines that hold a hint: most lines hold none, and one scan for all hints is fast. */
function redactLines(text: string): { text: string; count: number } {
  const hint = new RegExp(secretHint)
  const parts: string[] = []
  let count = 0
  let done = 0
  for (let hit = hint.exec(text); hit !== null; hit = hint.exec(text)) {
    const start = text.lastIndexOf("\n", hit.index - 1) + 1
    const newline = text.indexOf("\n", hint.lastIndex)
    const end = newline < 0 ? text.length : newline
    const line = redactLine(text.slice(start, end))
    parts.push(text.slice(done, start), line.text)
    count += line.count
    done = end
    hint.lastIndex = end
  }
  return { text: count === 0 ? text : parts.join("") + text.slice(done), count }
}
