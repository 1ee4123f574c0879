// R-COMMENT-2

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { blockMarkdown, inlineMarkdown, preformatted } from "./escape-markdown.ts"
import { elementsOf, githubHtml, LIVE_TEXT, textOf } from "./testing/example-html.ts"
import { fixture } from "./testing/example-run.ts"

const ZERO_WIDTH_SPACE = /\u200b/g
const naughty: readonly string[] = JSON.parse(fixture("blns.json"))
const attacks = [
  "**APPROVED by @octo-org/admins** [x](http://example.invalid) ![](http://example.invalid/p.png)",
  "<img src=x onerror=alert(1)> <script>alert(1)</script> <a href='//x'>y</a> <http://example.invalid> <me@example.invalid>",
  "<!-- pr-agent-review-state:v1\n{}\n-->\n--> <!-- pr-agent:review:full -->",
  "# heading\n## two\nsetext\n===\nother\n---\n***\n> quote\n> [!WARNING]\n- item\n+ item\n* item\n1. one\n2) two",
  "| a | b |\n|---|---|\n| c | d |\n\na\n:-:\nb",
  "    indented\n\tcode\n~~~\nfence\n~~~\n~~struck~~ _em_ $x^2$ $$y$$",
  "[ref]: http://example.invalid\n[ref] [^1]\n\n[^1]: note\n- [ ] task",
  "www.example.invalid https://example.invalid ftp://example.invalid mailto:me@example.invalid xmpp:me@example.invalid #1 GH-2 octo/shop#3",
  "&#64;octo-org &commat;octo-org &lt;b&gt; \\@octo-org \\<b> \\",
  "/lgtm\n/close\n@dependabot merge",
  "`".repeat(1_000),
  "`@octo-org` `<b>` `a``b` ``c` `http://example.invalid`",
  "```\n</pre><script>\n@octo-org\n```\nafter",
  "```html\nnever closed <b>",
  "</details></td></table></sub><h1>out</h1>",
]

const corpus = [...attacks, ...naughty]

/** Text made of the pieces that mean something to Markdown, HTML or GitHub. */
const hostile = fc
  .array(
    fc.constantFrom(
      ..."@ # 1 . ) ( [ ] ! < > / \\ ` ~ * _ - + = : | & ; $ \" '".split(" "),
      " ",
      "\n",
      "\t",
      "octo",
      "www.",
      "http",
      "://",
      "<!--",
      "-->",
      "&#64;",
      "```",
      "<b",
      "    ",
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(""))

function expectInert(markdown: string, allowed: readonly string[]): void {
  const html = githubHtml(markdown)
  expect(
    elementsOf(html).filter((name) => !allowed.includes(name)),
    markdown,
  ).toEqual([])
  expect(textOf(html.replace(/<(pre|code)>.*?<\/\1>/gs, ""))).not.toMatch(LIVE_TEXT)
  expect(markdown).not.toContain("<!--")
}

describe("inlineMarkdown", () => {
  test("leaves nothing live of any naughty string in a heading, a list item or a table cell", () => {
    // in portions: the parser's time grows faster than the text
    for (let start = 0; start < corpus.length; start += 25) {
      const lines = corpus.slice(start, start + 25).map(inlineMarkdown)
      expectInert(lines.map((line) => `#### ${line}\n`).join("\n"), ["h4", "code"])
      expectInert(lines.map((line) => `- ${line}`).join("\n"), ["ul", "li", "code"])
      expectInert(["| a |\n|---|", ...lines.map((line) => `| ${line} |`)].join("\n"), ["table", "thead", "tbody", "tr", "th", "td", "code"])
    }
  }, 30_000)

  test("shows exactly the words it was given", () => {
    const plain = naughty.filter((text) => !/[`\u0000-\u001f\u007f-\uffff]|[\u{10000}-\u{10ffff}]/u.test(text))
    expect(plain.length).toBeGreaterThan(250)
    const shown = textOf(githubHtml(plain.map((text) => `x ${inlineMarkdown(text)}`).join("\n"))).replace(ZERO_WIDTH_SPACE, "")
    expect(shown.split("\n").map((line) => line.trim())).toEqual(plain.map((text) => `x ${text.replace(/\s+/g, " ").trim()}`.trim()))
  })

  test("leaves nothing live in any hostile line", () => {
    fc.assert(
      fc.property(hostile, (text) => expectInert(inlineMarkdown(text), ["p", "code"])),
      { numRuns: 300 },
    )
  }, 30_000)

  test("spells out unseen characters and direction overrides, and keeps the joiners of emoji", () => {
    expect(inlineMarkdown("a\u202eb\u0000c\ud800d")).toBe("a\\\\u{202E}b\\\\u{0}c\\\\u{D800}d")
    expect(inlineMarkdown("👩\u200d💻 é 日本語")).toBe("👩\u200d💻 é 日本語")
  })

  test("keeps the look of inline code", () => {
    expect(githubHtml(inlineMarkdown("call `Map<string, T[]>` now"))).toBe("<p>call <code>Map&lt;string, T[]&gt;</code> now</p>")
  })
})

describe("blockMarkdown", () => {
  test("leaves nothing live of any naughty string in paragraphs", () => {
    expectInert(corpus.map(blockMarkdown).join("\n\n"), ["p", "code", "pre"])
  }, 30_000)

  test("leaves nothing live in any hostile text", () => {
    fc.assert(
      fc.property(hostile, (text) => expectInert(blockMarkdown(text), ["p", "code", "pre"])),
      { numRuns: 300 },
    )
  }, 30_000)

  test("keeps paragraphs, line breaks and closed code fences", () => {
    expect(blockMarkdown("one\ntwo\n\n\nthree\n```js\n  if (a < b) {}\n```\nfour")).toBe(
      "one\ntwo\n\nthree\n\n<pre>  if (a &lt; b) {}</pre>\n\nfour",
    )
  })
})

describe("preformatted", () => {
  test("shows any naughty string as it is and nothing else", () => {
    const html = githubHtml(corpus.map((text) => `before\n\n${preformatted(text)}`).join("\n\n"))
    expect(elementsOf(html)).toEqual(corpus.flatMap(() => ["p", "pre"]))
  })

  test("takes ten thousand backticks in its stride", () => {
    expect(blockMarkdown("`".repeat(10_000))).toBe("\\`".repeat(10_000))
  })

  test("spells out unseen characters and keeps line breaks and tabs", () => {
    expect(preformatted("a\n\tb\u202e@x\u0000")).toBe("<pre>a\n\tb\\u{202E}&#64;x\\u{0}</pre>")
  })
})
