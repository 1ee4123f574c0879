import { z } from "zod"

const Schema = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  items: z.unknown().optional(),
  minItems: z.number().optional(),
  minLength: z.number().optional(),
  minimum: z.number().optional(),
})

/** The smallest value a plain JSON schema accepts; null where the schema says nothing this understands. */
export function sampleValue(schema: unknown): unknown {
  const parsed = Schema.safeParse(schema)
  if (!parsed.success) return null
  const { type, properties = {}, required = [], items, minItems = 0, minLength = 0, minimum = 0, ...rest } = parsed.data
  if (rest.const !== undefined) return rest.const
  if (rest.enum) return rest.enum[0]
  if (rest.anyOf) return sampleValue(rest.anyOf[0])
  switch (Array.isArray(type) ? type[0] : type) {
    case "object":
      return Object.fromEntries(required.map((key) => [key, sampleValue(properties[key])]))
    case "array":
      return Array.from({ length: minItems }, () => sampleValue(items))
    case "string":
      return "x".repeat(Math.max(1, minLength))
    case "integer":
    case "number":
      return minimum
    case "boolean":
      return false
    default:
      return null
  }
}
