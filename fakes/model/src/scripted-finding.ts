const opening = "Scripted finding: Galley's scripted model wrote this, no model judged the code. It points at"

/** The text of the default script's finding. It says what it is, and names what it points at so that a later review knows it again. */
export const scriptedBody = (name: string) => `${opening} \`${name}\`, the first name on a line this change added.`

export const scriptedTitle = (name: string) => `Scripted finding: check ${name}`

/** The name an earlier scripted finding points at, or null for a finding of any other origin. */
export function scriptedName(body: string): string | null {
  const start = body.indexOf(opening)
  return start < 0 ? null : (body.slice(start + opening.length).match(/^ `([^`]+)`/)?.[1] ?? null)
}
