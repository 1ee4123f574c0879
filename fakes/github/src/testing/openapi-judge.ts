import { readFileSync } from "node:fs"
import { Ajv, type ErrorObject } from "ajv"
import addFormats from "ajv-formats"
import { z } from "zod"

const Description = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.object({ responses: z.record(z.string(), z.unknown()) }))),
  components: z.object({ responses: z.record(z.string(), z.unknown()) }).loose(),
})
const Answer = z.object({ content: z.record(z.string(), z.object({ schema: z.unknown() })).optional() })

/** Tells what is wrong with an answer by GitHub's own description; an empty list: nothing. */
export type OpenApiJudge = Readonly<{
  problems(method: string, path: string, status: number, body: unknown): readonly string[]
  /** Every operation described, as `GET /user`. */
  operations: readonly string[]
}>

/** @param name file in `fixtures/` without `.openapi.json` */
export function openApiJudge(name: "api.github.com" | "ghes-3.17"): OpenApiJudge {
  const file = new URL(`../../fixtures/${name}.openapi.json`, import.meta.url)
  const plain: unknown = JSON.parse(readFileSync(file, "utf8"))
  const { paths, components } = Description.parse(plain)
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true })
  addFormats.default(ajv)
  ajv.addSchema({ $id: "github", ...Object(withNull(plain)) })

  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  return {
    operations,
    problems(method, path, status, body) {
      const template = templateOf(Object.keys(paths), path)
      const responses = template === undefined ? undefined : paths[template]?.[method.toLowerCase()]?.responses
      if (template === undefined || !responses) return [`${method} ${path} is not described`]
      const place = placeOf(responses[String(status)], `#/paths/${pointerPart(template)}/${method.toLowerCase()}/responses/${status}`)
      if (place === undefined) return [`${method} ${path} may not answer ${status}`]
      const answer = Answer.parse(
        place.startsWith("#/components") ? components.responses[place.slice(place.lastIndexOf("/") + 1)] : responses[String(status)],
      )
      if (!answer.content) return body === null ? [] : ["a body where none is described"]
      const validate = ajv.getSchema(`github${place}/content/application~1json/schema`)
      if (!validate) return [`no schema at ${place}`]
      return validate(body) ? [] : (validate.errors ?? []).map(sentence)
    },
  }
}

/** Where an answer is described: in place, or in the components it refers to. */
function placeOf(answer: unknown, inPlace: string): string | undefined {
  if (answer === undefined) return undefined
  const reference = z.object({ $ref: z.string() }).safeParse(answer)
  return reference.success ? reference.data.$ref : inPlace
}

/** The described path an actual one is an instance of; the one with the fewest parameters wins. */
function templateOf(templates: readonly string[], path: string): string | undefined {
  const plain = path.replace(/\?.*$/, "")
  return templates
    .filter((template) =>
      new RegExp(`^${template.replace(/\{(path|basehead|ref|branch)\}/g, ".+").replace(/\{[^}]+\}/g, "[^/]+")}$`).test(plain),
    )
    .sort((a, b) => a.split("{").length - b.split("{").length)[0]
}

/**
 * OpenAPI 3.0 says `nullable`, JSON Schema a union with null. One mistake of the description is corrected: the account
 * in the list of installations is a person AND an enterprise there; everywhere else it is either.
 */
function withNull(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withNull)
  if (typeof schema !== "object" || schema === null) return schema
  const { nullable, ...given } = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withNull(value)]))
  const { allOf, ...others } = given
  const mistaken = Array.isArray(allOf) && allOf.some((part) => part.title === "Enterprise")
  const rest = mistaken ? { ...others, anyOf: allOf } : given
  return nullable === true ? { anyOf: [rest, { type: "null" }] } : rest
}

function pointerPart(path: string): string {
  return encodeURIComponent(path.replaceAll("~", "~0").replaceAll("/", "~1"))
}

function sentence({ instancePath, message, params }: ErrorObject): string {
  return `${instancePath || "body"} ${message} ${JSON.stringify(params)}`
}
