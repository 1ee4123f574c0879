import { z } from "zod"
import { GalleyError } from "./errors.ts"

/**
 * Reads a process's configuration from its environment. Unset and empty variables are the same; unknown ones are not looked at.
 *
 * @throws `config_invalid` whose message names every missing or wrong variable, one a line, never a value
 */
export function parseConfiguration<T extends z.ZodType>(schema: T, environment: Readonly<Record<string, string | undefined>>): z.infer<T> {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""))
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map((issue) => {
    const name = issue.path.join(".")
    const missing = issue.code === "invalid_type" && given[name] === undefined
    return `  ${name || "environment"}: ${missing ? "is missing" : issue.message}`
  })
  throw new GalleyError("config_invalid", `The configuration is not usable:\n${problems.join("\n")}`)
}

/** A whole number from text. */
export const integerFromText = (min: number, max: number) =>
  z
    .string()
    .regex(/^-?\d+$/, "expected a whole number")
    .transform(Number)
    .pipe(z.int().min(min).max(max))

/** What a runner proves itself with: it travels in a header, so no spaces. */
export const RunnerToken = z.string().regex(/^[\x21-\x7e]{20,500}$/, "expected at least 20 visible characters without spaces")

/** An http or https address without credentials, query or fragment; a slash at the end is dropped. */
export const HttpAddress = z
  .string()
  .refine((text) => {
    if (!URL.canParse(text)) return false
    const url = new URL(text)
    return /^https?:$/.test(url.protocol) && url.username === "" && url.password === "" && url.search === "" && url.hash === ""
  }, "expected an http or https address without credentials, query or fragment")
  .transform((text) => text.replace(/\/+$/, ""))

/** Whether the address can only reach this machine. */
export function isLoopback(address: string): boolean {
  const host = new URL(address).hostname
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host)
}
