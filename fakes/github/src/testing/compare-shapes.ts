/**
 * Where `ours` lacks a field of `recorded`, or has another JSON type there. A null on either side fits anything (it is a
 * field that may be empty), the items of a list are compared only when both lists have one, and `permissions` is a map
 * whose keys are free.
 *
 * @returns sentences, one per difference
 */
export function missingShapes(recorded: unknown, ours: unknown, path = ""): string[] {
  if (recorded === null || ours === null) return ours === undefined ? [`${path} is missing`] : []
  if (kindOf(recorded) !== kindOf(ours)) return [`${path} is ${kindOf(ours)}, recorded ${kindOf(recorded)}`]
  if (Array.isArray(recorded) && Array.isArray(ours)) {
    return recorded.length > 0 && ours.length > 0 ? missingShapes(recorded[0], ours[0], `${path}[]`) : []
  }
  if (typeof recorded !== "object" || typeof ours !== "object") return []
  return Object.entries(recorded).flatMap(([key, value]) => {
    const here = path ? `${path}.${key}` : key
    if (path.endsWith("permissions")) return []
    return key in ours ? missingShapes(value, Reflect.get(ours, key), here) : [`${here} is missing`]
  })
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "array" : typeof value
}
