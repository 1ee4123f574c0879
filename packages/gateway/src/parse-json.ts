/** The value of a JSON text, `undefined` when it is none (no JSON text has that value), so that a schema can refuse both alike. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
