import { z } from "zod"
import { addedLinesOfDiff, firstNamedLine } from "./added-lines.ts"
import { type ChatRequest, parseJson, type ToolExchange, textOf, toolExchanges } from "./chat-request.ts"
import { scriptedBody, scriptedName, scriptedTitle } from "./scripted-finding.ts"
import type { Step } from "./step.ts"

const MAX_READS = 8

const Prior = z.looseObject({ id: z.string(), path: z.string(), body: z.string() })
type Prior = z.infer<typeof Prior>

/**
 * The default answer to OpenCode: reads a changed file (and those of earlier findings), searches for a name the change added, then
 * returns one finding on that line. It keeps no state: the conversation in the request says how far it is.
 */
export function reviewWithTools(request: ChatRequest): Step {
  const prompt = textOf(request, "user")
  const target = firstNamedLine(addedLinesOfDiff(dataSection(prompt, "diff")))
  const prior = priorFindings(prompt)
  const root = textOf(request, "system").match(/<env>\s+Working directory: (.+)/)?.[1] ?? ""
  const done = toolExchanges(request)
  const called = (name: string) => done.some((exchange) => exchange.name === name)

  const paths = [...new Set([...(target ? [target.path] : []), ...prior.map(({ path }) => path)])].slice(0, MAX_READS)
  if (paths.length > 0 && !called("read")) return { calls: paths.map((path) => ({ name: "read", args: { filePath: `${root}/${path}` } })) }
  if (target && !called("grep")) return { calls: [{ name: "grep", args: { pattern: target.name.replaceAll("$", "\\$") } }] }

  const known = prior.some(({ path, body }) => path === target?.path && scriptedName(body) === target?.name)
  const judged = prior.map((finding) => ({ finding, verdict: judge(finding, root, done) }))
  const result = {
    version: 1,
    findings: target && !known ? [finding(target.path, target.line, target.name)] : [],
    resolved: judged.flatMap(({ finding: { id }, verdict }) => (verdict.evidence ? [{ id, evidence: verdict.evidence }] : [])),
    confirmed: judged.flatMap(({ finding: { id }, verdict }) => (verdict.confirmed ? [id] : [])),
    examinedPaths: paths,
  }
  return { calls: [{ name: "StructuredOutput", args: result }] }
}

const finding = (path: string, line: number, name: string) => ({
  title: scriptedTitle(name),
  body: scriptedBody(name),
  path,
  startLine: line,
  endLine: line,
  priority: "P3",
  confidence: 0.5,
  evidence: [`${path}:${line} adds ${name}`],
  rules: [],
})

/**
 * An earlier finding of another origin is confirmed. A scripted one is judged by what `read` showed: confirmed when its name is still in
 * the file, resolved when the whole file was shown without it or is gone, otherwise not named at all.
 */
function judge({ path, body }: Prior, root: string, done: readonly ToolExchange[]): { confirmed?: true; evidence?: string } {
  const name = scriptedName(body)
  if (name === null) return { confirmed: true }
  const content = done.find((exchange) => exchange.name === "read" && exchange.args.filePath === `${root}/${path}`)?.result
  if (content === undefined) return {}
  if (content.startsWith("File not found")) return { evidence: `${path} no longer exists` }
  if (content.includes(name)) return { confirmed: true }
  return content.includes("(End of file") ? { evidence: `${path} no longer contains ${name}` } : {}
}

function priorFindings(prompt: string): Prior[] {
  return dataSection(prompt, "prior findings")
    .split("\n")
    .flatMap((line) => {
      const parsed = Prior.safeParse(parseJson(line))
      return parsed.success ? [parsed.data] : []
    })
}

/** The data of one demarcated section of a Dynamic Review prompt; empty when there is none. */
function dataSection(prompt: string, name: string): string {
  return prompt.match(new RegExp(`^BEGIN ${name} (\\w+)\\n([^]*?)\\n?^END ${name} \\1$`, "m"))?.[2] ?? ""
}
