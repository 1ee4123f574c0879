import { errorCode } from "@galley/contract/errors"
import { describe, expect, test } from "vitest"
import { isGalleyComment, MARKER, parseComment } from "./comment-state.ts"
import { renderComment } from "./render-comment.ts"
import { elementsOf, githubHtml, LIVE_TEXT, textOf } from "./testing/example-html.ts"
import {
  EARLIER_HEAD,
  earlierState,
  exampleComment,
  exampleCoverage,
  exampleFinding,
  exampleHead,
  HEAD,
  idOf,
  nextHead,
  runReconcile,
  stockRecord,
} from "./testing/example-run.ts"

const render = (run: Parameters<typeof runReconcile>[0] = {}, over: Parameters<typeof exampleComment>[1] = {}) =>
  renderComment(exampleComment(runReconcile(run), over))
const long = (index: number, text: string) =>
  exampleFinding({
    title: `Finding ${index}`,
    body: text,
    evidence: Array.from({ length: 10 }, (_, line) => `${index} ${line} ${"e".repeat(900)}`),
  })

describe("the comment", () => {
  test("has heading, marker in line 3, and the state block at its end", () => {
    const comment = render({ findings: [exampleFinding()] })
    expect(comment.split("\n")[0]).toBe("## Galley: Dynamic Review")
    expect(comment.split("\n")[2]).toBe(MARKER)
    expect(isGalleyComment(comment)).toBe(true)
    expect(parseComment(comment)?.state).toEqual(runReconcile({ findings: [exampleFinding()] }).state)
    expect(comment.match(/<!-- pr-agent-review-state/g)).toHaveLength(1)
  })

  test("says what was reviewed, with what, and what it cost", () => {
    const comment = render({}, { kind: "diff" })
    expect(comment).toContain("## Galley: Diff Review")
    expect(comment).toContain(
      `[\`bbbbbbb\`](https://github.com/octo/shop/commit/${HEAD}) (\`${HEAD}\`) with OpenCode 1.19.0, model deepseek-v4.1-flash`,
    )
    expect(comment).toContain("3 model calls, 1234 input and 56 output tokens, cost unknown")
    expect(comment).toContain("**No active findings**")
  })

  test("lists findings by priority, unrated last and said to be unrated", () => {
    const findings = [
      exampleFinding({ title: "low", priority: "P3" }),
      exampleFinding({ title: "none", priority: null, confidence: null }),
      exampleFinding({ title: "top", priority: "P0" }),
    ]
    const comment = render({ findings })
    expect([...comment.matchAll(/^#### (.*)$/gm)].map((match) => match[1])).toEqual(["P0: top", "P3: low", "Unrated: none"])
    expect(comment).toContain("priority not rated by the engine that found it")
    expect(comment).toContain("**3 active findings** (1 P0, 1 P3, 1 unrated): 3 new")
  })

  test("links a place to the commit whose lines it names, percent-encoded once", () => {
    const path = "src/a b%20(1)#?[x].ts"
    const head = exampleHead({ headPaths: new Set([path]), lineCounts: new Map([[path, 100]]) })
    const comment = render({ findings: [exampleFinding({ path })], head }, { headPaths: head.headPaths })
    expect(comment).toContain(`(https://github.com/octo/shop/blob/${HEAD}/src/a%20b%2520%281%29%23%3F%5Bx%5D.ts#L10-L11)`)
    const prior = earlierState("dynamic", [exampleFinding()])
    const confirmed = render({ prior, confirmedIds: [idOf(exampleFinding())], head: nextHead(["src/a.ts"]) })
    expect(confirmed).toContain(`/blob/${EARLIER_HEAD}/src/a.ts#L10-L11`)
  })

  test("does not link a path which the reviewed head does not have", () => {
    expect(render({ findings: [exampleFinding()] }, { headPaths: new Set() })).not.toContain("/blob/")
  })

  test("does not link a commit that stored state made up", () => {
    const prior = { schema_version: 1 as const, findings: [stockRecord({ last_seen_head_sha: "x](http://example.invalid)" })] }
    expect(render({ prior })).not.toContain("/blob/")
  })

  test("says which findings this review did not confirm", () => {
    expect(render({ prior: earlierState("dynamic", [exampleFinding()]) })).toContain("not confirmed by this review, last seen at `aaaaaaa`")
  })

  test("lists resolved findings folded away", () => {
    const prior = earlierState("dynamic", [exampleFinding()])
    const comment = render({ prior, resolvedIds: [idOf(exampleFinding())], head: nextHead(["src/a.ts"]) })
    expect(comment).toContain("<summary>Resolved findings (1)</summary>")
    expect(comment).toContain("- Lock is never released (src/a.ts, resolved at `bbbbbbb`)")
  })

  test("declares partial coverage, what was left out and why, in a bounded table", () => {
    const omissions = Array.from({ length: 60 }, (_, index) => ({ path: `${index}.png`, reason: "binary" as const, changed: true }))
    const coverage = exampleCoverage({ status: "partial", changedFiles: 62, omitted: { omissions, total: 67 } })
    const comment = render({}, { coverage, dropped: [{ reason: "outside_change", count: 2 }] })
    expect(comment).toContain("### Coverage: partial")
    expect(comment).toContain("2 of 62 changed files were examined.")
    expect(comment.match(/\| binary file \|/g)).toHaveLength(50)
    expect(comment).toContain("and 10 more")
    expect(comment).toContain("7 other files of the repository were not readable")
    expect(comment).toContain("2 reported findings were not taken over: 2 outside change.")
  })

  // R-FIND-8
  test("declares a restored state and a full review", () => {
    const comment = render({}, { tampered: true, coverage: exampleCoverage({ comparison: "unavailable" }) })
    expect(comment).toContain("> The earlier summary had been edited by hand")
    expect(comment).toContain("so this is a full review")
  })
})

describe("hostile text", () => {
  const attack = "**APPROVED by @octo-org/admins** [x](http://example.invalid) ![](http://example.invalid/p.png) <img src=x> --> <!-- x -->"

  // R-COMMENT-2
  test("in any field of a finding is shown, and is neither link, image, mention, markup nor state", () => {
    const path = `src/${attack.replaceAll("/", "_")}.ts`
    const finding = exampleFinding({
      title: attack.slice(0, 80),
      body: `${attack}\n\n${attack}`,
      path,
      evidence: [attack, "</pre></details>"],
      rules: [attack],
    })
    const head = exampleHead({ headPaths: new Set([path]) })
    const omissions = [{ path, reason: "binary" as const, changed: true }]
    const comment = render(
      { findings: [finding], head },
      {
        headPaths: new Set([path]),
        model: attack,
        runId: attack,
        coverage: exampleCoverage({ changedFiles: 3, omitted: { omissions, total: 1 } }),
      },
    )
    const html = githubHtml(comment.replace(/<!--.*?-->/gs, ""))
    const links = [...html.matchAll(/<a href="([^"]*)"/g)].map((match) => match[1])
    expect(links.every((href) => href?.startsWith("https://github.com/octo/shop/"))).toBe(true)
    expect(links).toHaveLength(2)
    expect(elementsOf(html)).not.toContain("img")
    expect(textOf(html.replace(/<(pre|code)>.*?<\/\1>/gs, ""))).not.toMatch(LIVE_TEXT)
    expect(comment).not.toContain("@octo-org")
    expect(parseComment(comment)?.state.findings[0]?.body).toContain("<!-- x -->")
  })

  test("in stored state of stock PR-Agent is as inert", () => {
    const prior = {
      schema_version: 1 as const,
      findings: [
        stockRecord({ body: attack, path: attack }),
        stockRecord({ finding_id: "r", state: "RESOLVED", body: attack, path: attack }),
      ],
    }
    const html = githubHtml(render({ prior }).replace(/<!--.*?-->/gs, ""))
    expect(elementsOf(html)).not.toContain("img")
    expect([...html.matchAll(/<a href="([^"]*)"/g)].every((match) => match[1]?.startsWith("https://github.com/octo/shop/"))).toBe(true)
  })
})

describe("the limits", () => {
  const bytesOf = (comment: string) => Buffer.byteLength(comment)

  // R-COMMENT-1
  test.each([
    ["plain text", "The lock is never released. ".repeat(146)],
    ["markup that grows when escaped", "[*`<&_|#1@a".repeat(372)],
    ["emoji", "🔒".repeat(1_000)],
    ["lines", "a\n\n".repeat(1_365)],
  ])("hold for 30 findings of 4 KB of %s beside 20 KB of older state, with every finding and the state whole", (_name, text) => {
    const old = Array.from({ length: 40 }, (_, index) =>
      stockRecord({ finding_id: `old${index}`, path: "src/unchanged.ts", body: `**Old**\n\n${"o".repeat(200)}` }),
    )
    const result = runReconcile({
      prior: { schema_version: 1, findings: old },
      findings: Array.from({ length: 30 }, (_, index) => long(index, text)),
    })
    const comment = renderComment(exampleComment(result))
    expect(comment.length).toBeLessThanOrEqual(65_000)
    expect(bytesOf(comment)).toBeLessThan(64 * 1024)
    expect(comment.match(/^(?:####|-) (?:P\d|Unrated): /gm)).toHaveLength(70)
    expect(parseComment(comment)?.state).toEqual(result.state)
    expect(comment).toContain("> Shortened to fit GitHub's limit: ")
  })

  test("count characters as well as bytes", () => {
    for (let length = 31_000; length < 33_000; length += 100) {
      const comment = render({ prior: { schema_version: 1, findings: [stockRecord({ body: "b".repeat(length) })] } })
      expect(comment.length).toBeLessThanOrEqual(65_000)
    }
  })

  test("leave a comment that fits whole", () => {
    expect(render({ findings: [long(1, "x".repeat(4_000))] })).not.toContain("Shortened")
  })

  // R-COMMENT-1
  test("make visible text give way step by step: evidence, resolved findings, texts, all but titles", () => {
    const resolved = Array.from({ length: 40 }, (_, index) =>
      stockRecord({ finding_id: `r${index}`, state: "RESOLVED", path: "p".repeat(100) }),
    )
    const active = (index: number, words: number) => {
      const x = { v: 1 as const, uid: `a${index}`, evidence: ["e".repeat(150)] }
      return stockRecord({ finding_id: `a${index}`, path: "src/unchanged.ts", body: `**T**\n\n${"b ".repeat(words)}`, x })
    }
    const notes = Array.from({ length: 94 }, (_, step) => {
      const findings = [...resolved, ...Array.from({ length: 8 }, (_, index) => active(index, step * 40))]
      return /Shortened to fit GitHub's limit: (\w+ \w+)/.exec(render({ prior: { schema_version: 1, findings } }))?.[1] ?? "nothing"
    })
    expect([...new Set(notes)]).toEqual(["nothing", "evidence is", "evidence and", "texts are", "only titles"])
  })

  test("fail with their own code when the active findings cannot fit", () => {
    const findings = Array.from({ length: 12 }, (_, index) =>
      stockRecord({ finding_id: `a${index}`, body: "b".repeat(6_000), path: "src/unchanged.ts" }),
    )
    expect(() => render({ prior: { schema_version: 1, findings } })).toThrow(
      expect.toSatisfy((error) => errorCode(error) === "comment_too_large"),
    )
  })
})
