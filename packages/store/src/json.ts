import type { JSONValue } from "postgres"

/**
 * A value that passed a schema made of JSON types, as the driver wants it. Guarantee: such schemas admit nothing but JSON; loose
 * objects keep unknown keys, which came from JSON too.
 */
export function toJson(value: object): JSONValue {
  return value as JSONValue
}
