import { z } from "zod"
import { addedLinesOfHunks, firstNamedLine } from "./added-lines.ts"
import { type ChatRequest, parseJson, textOf } from "./chat-request.ts"
import { scriptedBody, scriptedName } from "./scripted-finding.ts"
import type { Step } from "./step.ts"

const Earlier = z.object({
  state: z.enum(["active", "resolved", "dismissed"]),
  relevant_file: z.string(),
  start_line: z.int().nullish(),
  end_line: z.int().nullish(),
  issue_header: z.string(),
  issue_content: z.string(),
})
type Issue = Omit<z.infer<typeof Earlier>, "state">

const DIFF_HEADING = "\nThe PR code diff:\n======\n"
const EARLIER_HEADING = "\nFindings from earlier reviews of this PR (JSON data):\n======\n"

/** True for the review prompt of PR-Agent. */
export function isYamlReview(request: ChatRequest): boolean {
  return textOf(request, "system").includes("key_issues_to_review")
}

/**
 * The default answer to PR-Agent: earlier findings that still stand, word for word, and one finding on the first line the change added.
 */
export function reviewAsYaml(request: ChatRequest): Step {
  const prompt = textOf(request, "user")
  // The last heading is the real one: lines of the diff are numbered or marked, so only texts before it can imitate it.
  const diffStart = prompt.lastIndexOf(DIFF_HEADING)
  const before = prompt.slice(0, Math.max(0, diffStart))
  const added = diffStart < 0 ? [] : addedLinesOfHunks(prompt.slice(diffStart + DIFF_HEADING.length))
  const earlier = earlierFindings(before)

  const standing = earlier.flatMap(({ state, ...issue }): Issue[] => {
    if (state !== "active") return []
    const name = scriptedName(issue.issue_content)
    const line = added.find(({ path, text }) => path === issue.relevant_file && (name === null || text.includes(name)))
    if (!line) return []
    return [name === null ? issue : { ...issue, start_line: line.line, end_line: line.line }]
  })
  const target = firstNamedLine(added)
  const known = earlier.some(
    ({ state, relevant_file, issue_content }) =>
      state !== "resolved" && relevant_file === target?.path && scriptedName(issue_content) === target.name,
  )
  const fresh: Issue[] =
    target && !known
      ? [
          {
            relevant_file: target.path,
            issue_header: "Scripted finding",
            issue_content: scriptedBody(target.name),
            start_line: target.line,
            end_line: target.line,
          },
        ]
      : []
  const limit = Number(textOf(request, "system").match(/\(0-(\d+) issues\)/)?.[1] ?? 30)
  return { say: reviewYaml([...standing, ...fresh].slice(0, limit)) }
}

/** The JSON list of earlier findings. Its strings hold no raw line break, so nothing inside can imitate the heading or the end. */
function earlierFindings(before: string): z.infer<typeof Earlier>[] {
  const start = before.lastIndexOf(EARLIER_HEADING)
  if (start < 0) return []
  const list = before.slice(start + EARLIER_HEADING.length).split("\n======")[0] ?? ""
  const parsed = z.array(Earlier).safeParse(parseJson(list))
  return parsed.success ? parsed.data : []
}

/** A review in the shape PR-Agent asks for; texts are double-quoted, so that they come back letter for letter. */
export function reviewYaml(issues: readonly Issue[]): string {
  const entries = issues.map(
    (issue) => `
    - relevant_file: ${quoted(issue.relevant_file)}
      issue_header: ${quoted(issue.issue_header)}
      issue_content: ${quoted(issue.issue_content)}
      start_line: ${issue.start_line ?? 0}
      end_line: ${issue.end_line ?? 0}`,
  )
  return `review:
  estimated_effort_to_review_[1-5]: 1
  relevant_tests: |
    No
  key_issues_to_review:${entries.join("") || " []"}
  security_concerns: |
    No
`
}

/** JSON is YAML once the characters YAML does not print are escaped. */
const quoted = (text: string) =>
  JSON.stringify(text).replace(/[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)
