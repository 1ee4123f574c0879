const MARKER = "[redacted:known-secret]"
const MIN_LENGTH = 8

/** Replaces the values themselves and their base64 and URL-encoded forms. */
export function redactKnownValues(text: string, secrets: readonly string[]): { text: string; count: number } {
  let clean = text
  let count = 0
  const all = new Set(secrets.filter((secret) => secret.length >= MIN_LENGTH).flatMap(forms))
  // Longest first: one secret may begin with another, and its rest must not stay.
  for (const form of [...all].toSorted((a, b) => b.length - a.length)) {
    if (!clean.includes(form)) continue
    const parts = clean.split(form)
    count += parts.length - 1
    clean = parts.join(MARKER + "\n".repeat(form.split("\n").length - 1))
  }
  return { text: clean, count }
}

function forms(secret: string): string[] {
  const encoded = [0, 1, 2].map((offset) => base64Inside(secret, offset))
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    ...encoded,
    ...encoded.map((form) => form.replaceAll("+", "-").replaceAll("/", "_")),
  ].filter((form) => form.length >= MIN_LENGTH)
}

/** The characters of base64 that depend on `secret` alone when it stands `offset` bytes after a multiple of three, as in `user:secret`. */
function base64Inside(secret: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)])
  return bytes.toString("base64").slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6))
}
