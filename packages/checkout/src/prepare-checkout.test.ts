import { existsSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import type { ChangedFile, Checkout } from "./checkout.ts"
import { prepareCheckout } from "./prepare-checkout.ts"
import type { Files, TestRepository } from "./testing/repository.ts"
import { filesBelow, type Options, openWorkbench, type Workbench } from "./testing/workbench.ts"

vi.setConfig({ testTimeout: 30_000 })

let bench: Workbench
let repository: TestRepository
beforeAll(async () => {
  bench = await openWorkbench()
  repository = bench.repository("sample.git")
})
afterAll(() => bench.close())

const KIB = 1024
const LINK = "120000"
const SUBMODULE = "160000"
const text = (bytes: number): string => `${"x".repeat(63)}\n`.repeat(Math.ceil(bytes / 64)).slice(0, bytes)
const lines = (count: number, change: (line: number) => string = () => ""): string =>
  Array.from({ length: count }, (_, index) => `line ${index}${change(index)}\n`).join("")

/** Prepares a pull request whose head replaces the files of its base. */
function review(before: Files, after: Files, options?: Options): Promise<Checkout> {
  const base = repository.commit(before)
  const head = repository.commit(after, [base], { minute: 1 })
  return bench.prepare("sample.git", base, head, options)
}

function summary(checkout: Checkout): [status: ChangedFile["status"], path: string, omitted: ChangedFile["omitted"]][] {
  return checkout.changedFiles.map((file) => [file.status, file.path, file.omitted])
}

describe("changes", () => {
  // P02
  test("shows moved files as moved, with and without a change of content", async () => {
    const checkout = await review(
      { "a/pure.ts": lines(20), "a/edited.ts": lines(30) },
      { "b/pure.ts": lines(20), "b/edited.ts": lines(30, (line) => (line === 15 ? "!" : "")) },
    )
    expect(checkout.changedFiles).toMatchObject([
      { path: "b/edited.ts", previousPath: "a/edited.ts", status: "renamed", changedLines: [{ start: 16, end: 16 }], additions: 1 },
      { path: "b/pure.ts", previousPath: "a/pure.ts", status: "renamed", patch: null, changedLines: [] },
    ])
    expect(checkout.omitted.total).toBe(0)
  })

  // P05
  test("shows a change of modes, without hunks", async () => {
    const checkout = await review({ "run.sh": ["100644", "echo\n"] }, { "run.sh": ["100755", "echo\n"] })
    expect(checkout.changedFiles).toMatchObject([{ path: "run.sh", status: "modified", patch: null, omitted: null }])
  })

  // P14
  test("shows deleted files with their hunks", async () => {
    const checkout = await review({ "a.ts": "1\n2\n", keep: "x\n" }, { keep: "x\n" })
    expect(checkout.changedFiles).toMatchObject([{ path: "a.ts", status: "removed", deletions: 2, changedLines: [], omitted: null }])
  })

  // P08, P23, R-CHECKOUT-10
  test("keeps CRLF byte for byte under the attributes of the pull request", async () => {
    const attributes = "* text eol=lf -diff\n*.ts export-ignore filter=lfs\n"
    const checkout = await review({}, { ".gitattributes": attributes, "a.ts": "one\r\ntwo\r\n" })
    expect(filesBelow(checkout.treePath).get("a.ts")).toBe("one\r\ntwo\r\n")
    expect(checkout.changedFiles.find((file) => file.path === "a.ts")?.patch).toBe("@@ -0,0 +1,2 @@\n+one\r\n+two\r\n")
  })

  test("cannot be fooled by content that looks like a diff", async () => {
    const forged = "x\rdiff --git a/evil b/evil\r@@ -1 +1 @@\n+++ b/evil\n@@ -9 +9 @@\n"
    const checkout = await review({}, { "a.ts": forged, "b.ts": "x\n" })
    expect(checkout.changedFiles).toMatchObject([
      { path: "a.ts", additions: 3, changedLines: [{ start: 1, end: 3 }] },
      { path: "b.ts", additions: 1 },
    ])
  })

  test("tells the commits of the pull request, newest first", async () => {
    const root = repository.commit({ a: "1\n" })
    const first = repository.commit({ a: "2\n" }, [root], { minute: 1, message: "First\n\nbody" })
    const second = repository.commit({ a: "3\n" }, [first], { minute: 2, message: "Second" })
    const { commits } = await bench.prepare("sample.git", root, second)
    expect(commits).toEqual([
      { sha: second, message: "Second", committedAt: "2023-11-14T22:15:20+00:00" },
      { sha: first, message: "First\n\nbody", committedAt: "2023-11-14T22:14:20+00:00" },
    ])
  })

  // P21, R-CHECKOUT-9
  test("starts at the merge base when the base branch moved on", async () => {
    const fork = repository.commit({ a: "1\n", b: "1\n" })
    const base = repository.commit({ a: "1\n", b: "2\n" }, [fork], { minute: 1 })
    const head = repository.commit({ a: "2\n", b: "1\n" }, [fork], { minute: 2 })
    const checkout = await bench.prepare("sample.git", base, head)
    expect(checkout.mergeBaseSha).toBe(fork)
    expect(summary(checkout)).toEqual([["modified", "a", null]])
  })
})

describe("omissions of the change", () => {
  // P03, P04
  test("omits every changed file when only binary and oversized ones changed", async () => {
    const before = { "a.bin": "\0a", "package-lock.json": text(600 * KIB), "b.bin": "\0b" }
    const checkout = await review(before, { "a.bin": "\0changed", "package-lock.json": `${text(700 * KIB)}`, "b.bin": text(600 * KIB) })
    expect(summary(checkout)).toEqual([
      ["modified", "a.bin", "binary"],
      ["modified", "b.bin", "file_too_large"],
      ["modified", "package-lock.json", "file_too_large"],
    ])
    expect(checkout.diff).toBe("")
  })

  // P06, P07, R-CHECKOUT-7
  test("declares links, submodules and credentials and shows the rest", async () => {
    const after: Files = {
      "ca/link": [LINK, "../ca.crt"],
      "server.key": "SECRET\n",
      vendor: [SUBMODULE, "1".repeat(40)],
      ".gitmodules": "[submodule]\n",
      "ca.crt": "public\n",
    }
    const checkout = await review({}, after)
    expect(summary(checkout)).toEqual([
      ["added", ".gitmodules", null],
      ["added", "ca.crt", null],
      ["added", "ca/link", "symlink"],
      ["added", "server.key", "credential_like"],
      ["added", "vendor", "submodule"],
    ])
    expect(checkout.diff).not.toContain("SECRET")
  })

  // P09
  test("declares text that is not UTF-8, also when only the old side is", async () => {
    const legacy = Buffer.from("caf\xe9\n", "latin1")
    const checkout = await review({ "old.txt": legacy, "a.ts": "1\n" }, { "old.txt": "café\n", "new.txt": legacy, "a.ts": "2\n" })
    expect(summary(checkout)).toEqual([
      ["modified", "a.ts", null],
      ["added", "new.txt", "not_utf8"],
      ["modified", "old.txt", "not_utf8"],
    ])
  })

  // P11
  test("declares a moved image once and finds names in any script", async () => {
    const png = Buffer.from([0x89, 0x50, 0, 1])
    const checkout = await review(
      { "テスト 测试.png": png, "テスト%.js": lines(9) },
      { "静的/テスト.png": png, "静的/テスト%.js": lines(9) },
    )
    expect(checkout.changedFiles).toMatchObject([
      { path: "静的/テスト%.js", previousPath: "テスト%.js", omitted: null },
      { path: "静的/テスト.png", previousPath: "テスト 测试.png", omitted: "binary" },
    ])
    expect(checkout.omitted.omissions).toEqual([{ path: "静的/テスト.png", reason: "binary", changed: true }])
  })

  // P15
  test("leaves a huge added file out of the diff and of rename detection", async () => {
    const before = { "small.ts": lines(20), "removed.ts": lines(40) }
    const checkout = await review(before, { "small.ts": lines(20, (line) => (line === 3 ? "!" : "")), "vendor.js": text(3000 * KIB) })
    expect(summary(checkout)).toEqual([
      ["removed", "removed.ts", null],
      ["modified", "small.ts", null],
      ["added", "vendor.js", "file_too_large"],
    ])
    expect(checkout.diff.length).toBeLessThan(2 * KIB)
  })

  test("shows the harmless half of a move from or to a credential-like name", async () => {
    const checkout = await review({ ".env": lines(9), "plain.txt": text(600) }, { "env.txt": lines(9), id_rsa: text(600) })
    expect(summary(checkout)).toEqual([
      ["removed", ".env", "credential_like"],
      ["added", "env.txt", null],
      ["added", "id_rsa", "credential_like"],
      ["removed", "plain.txt", null],
    ])
  })

  // P01
  test("tells omissions of the tree from omissions of the change", async () => {
    const checkout = await review({ "logo.png": "\0", a: "1\n" }, { "logo.png": "\0", a: "2\n" })
    expect(checkout.omitted).toEqual({ omissions: [{ path: "logo.png", reason: "binary", changed: false }], total: 1 })
  })

  // P18
  test("reviews discovery inputs through the diff alone", async () => {
    const checkout = await review({ "a/.claude/x.md": "old\n" }, { "a/.claude/x.md": "new\n", "opencode.json": "{}\n" })
    expect(summary(checkout)).toEqual([
      ["modified", "a/.claude/x.md", null],
      ["added", "opencode.json", null],
    ])
    expect(checkout.omitted.omissions.map(({ reason, changed }) => [reason, changed])).toEqual(Array(2).fill(["discovery_input", true]))
    expect([...filesBelow(checkout.treePath)]).toEqual([])
    expect(await checkout.readText("a/.claude/x.md", "mergeBase", AbortSignal.timeout(5_000))).toBeNull()
  })
})

describe("text for the engine", () => {
  test("reads both sides of a change, and unchanged files at the merge base too", async () => {
    const checkout = await review({ "old.ts": lines(20), same: "s\n", gone: "g\n" }, { "new.ts": lines(20), same: "s\n", added: "a\n" })
    const read = (path: string, at: "head" | "mergeBase"): Promise<string | null> => checkout.readText(path, at, AbortSignal.timeout(5_000))
    expect(await read("new.ts", "head")).toBe(lines(20))
    expect(await read("old.ts", "head")).toBeNull()
    expect(await read("old.ts", "mergeBase")).toBe(lines(20))
    expect(await read("new.ts", "mergeBase")).toBeNull()
    expect(await read("same", "mergeBase")).toBe("s\n")
    expect(await read("gone", "mergeBase")).toBe("g\n")
    expect(await read("added", "mergeBase")).toBeNull()
  })

  test("fails when an object that must be there cannot be read", async () => {
    const checkout = await review({}, { a: "1\n" })
    const packs = join(checkout.treePath, "../git/objects/objects/pack")
    for (const name of readdirSync(packs)) if (name.endsWith(".pack")) writeFileSync(join(packs, name), "damaged")
    await expect(checkout.readText("a", "head", AbortSignal.timeout(5_000))).rejects.toMatchObject({ code: "changed_file_unavailable" })
  })
})

describe("comparison with the last reviewed head", () => {
  // FP01, R-CHECKOUT-12
  test("names every path that differs after a force push", async () => {
    const fork = repository.commit({ a: "1\n", b: "1\n", moved: lines(9) })
    const previousHeadSha = repository.commit({ a: "2\n", b: "1\n", moved: lines(9) }, [fork], { minute: 1 })
    const base = repository.commit({ a: "1\n", b: "2\n", to: lines(9) }, [fork], { minute: 2 })
    const head = repository.commit({ a: "2\n", b: "2\n", to: lines(9) }, [base], { minute: 3 })
    const checkout = await bench.prepare("sample.git", base, head, { previousHeadSha })
    expect(summary(checkout)).toEqual([["modified", "a", null]])
    expect(checkout.comparison).toEqual({ kind: "exact", previousHeadSha, changedPaths: new Set(["b", "moved", "to"]) })
  })

  // R-CHECKOUT-12
  test("says when the earlier head can no longer be had", async () => {
    const previousHeadSha = "1".repeat(40)
    const checkout = await review({ a: "1\n" }, { a: "2\n" }, { previousHeadSha })
    expect(checkout.comparison).toEqual({ kind: "unavailable", previousHeadSha })
  })

  test("finds no difference from the same head", async () => {
    const base = repository.commit({ a: "1\n" })
    const head = repository.commit({ a: "2\n" }, [base], { minute: 1 })
    const { comparison } = await bench.prepare("sample.git", base, head, { previousHeadSha: head })
    expect(comparison).toEqual({ kind: "exact", previousHeadSha: head, changedPaths: new Set() })
  })
})

describe("bounds", () => {
  async function failure(before: Files, after: Files, limits: Options["limits"]): Promise<unknown> {
    const base = repository.commit(before)
    const head = repository.commit(after, [base], { minute: 1 })
    const request = bench.request("sample.git", base, head, limits === undefined ? {} : { limits })
    const error: unknown = await prepareCheckout(request, AbortSignal.timeout(30_000)).catch((reason: unknown) => reason)
    expect(readdirSync(request.jobDirectory)).toEqual([])
    return error
  }

  // P16, R-CHECKOUT-8
  test("counts entries and accepts exactly the limit", async () => {
    const after = { a: "1\n", "b/c": "2\n", "b/d": "3\n" }
    expect(await failure({}, after, { maxTreeEntries: 2 })).toMatchObject({ code: "checkout_entries_exceeded" })
    expect((await review({}, after, { limits: { maxTreeEntries: 3 } })).headPaths.size).toBe(3)
  })

  test("stops a tree of nested folders without files", async () => {
    const after = { [`${Array(30).fill("d").join("/")}/x`]: "1\n" }
    expect(await failure({}, after, { maxTreeEntries: 20 })).toMatchObject({ code: "checkout_entries_exceeded" })
  })

  // R-CHECKOUT-8
  test("counts readable content and accepts exactly the limit", async () => {
    const after = { a: text(600), b: text(400), "not-counted.bin": `\0${text(500)}` }
    expect(await failure({}, after, { maxExposedBytes: 999 })).toMatchObject({ code: "checkout_content_exceeded" })
    expect((await review({}, after, { limits: { maxExposedBytes: 1000 } })).lineCounts.size).toBe(2)
  })

  // R-CHECKOUT-8
  test("fails over the size of the diff and accepts exactly the limit", async () => {
    const after = { a: text(4 * KIB), "big.bin": `\0${text(100 * KIB)}` }
    const { diff } = await review({}, after)
    expect(await failure({}, after, { maxDiffBytes: diff.length - 1 })).toMatchObject({ code: "input_too_large" })
    expect((await review({}, after, { limits: { maxDiffBytes: diff.length } })).diff).toBe(diff)
  })

  test("refuses five added files of which each is within policy and all are not", async () => {
    const after = Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`${index}.txt`, `${index}${text(499_999)}`]))
    expect(await failure({}, after, undefined)).toMatchObject({ code: "input_too_large" })
  })

  // R-CHECKOUT-7
  test("says how many omissions a cut list had", async () => {
    const after = Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`${index}.bin`, "\0"]))
    const { omitted } = await review({}, after, { limits: { maxOmissions: 3 } })
    expect(omitted).toMatchObject({ omissions: { length: 3 }, total: 7 })
  })

  test("refuses a tree that names one path twice", async () => {
    const blob = Buffer.from(repository.git(["hash-object", "-w", "--stdin"], "x"), "hex")
    const row = Buffer.concat([Buffer.from("100644 twice\0"), blob])
    const tree = repository.git(["hash-object", "-t", "tree", "-w", "--literally", "--stdin"], Buffer.concat([row, row]))
    const base = repository.commit({})
    const head = repository.git(["-c", "user.name=A", "-c", "user.email=a@example.invalid", "commit-tree", tree, "-p", base], "x")
    await expect(bench.prepare("sample.git", base, head)).rejects.toMatchObject({ code: "checkout_path_unsafe" })
  })
})

test("writes nothing of a tree that tries to leave the export", async () => {
  const after = { "../out": "x\n", "a/../../out": "x\n", ".git/config": "x\n", "b/.GIT/hooks/x": "x\n", "git~1/x": "x\n", fine: "x\n" }
  const checkout = await review({}, after)
  expect([...filesBelow(checkout.treePath).keys()]).toEqual(["fine"])
  expect(existsSync(join(checkout.treePath, "../out"))).toBe(false)
  expect(checkout.omitted.omissions.map((omission) => omission.reason)).toEqual(Array(5).fill("path_unsafe"))
  expect(checkout.diff.match(/^diff --git.*$/gm)).toEqual(["diff --git a/fine b/fine"])
})

test("reads a repository with SHA-256 ids", async () => {
  const other = bench.repository("sha256.git", "sha256")
  const base = other.commit({ a: "1\n" })
  const head = other.commit({ a: "2\n" }, [base], { minute: 1 })
  expect(head).toHaveLength(64)
  expect(summary(await bench.prepare("sha256.git", base, head))).toEqual([["modified", "a", null]])
})

test("leaves exactly the two folders in the job directory, the repositories closed to others", async () => {
  const checkout = await review({}, { a: "1\n" })
  const job = join(checkout.treePath, "..")
  expect(readdirSync(job).sort()).toEqual(["git", "tree"])
  expect(existsSync(join(job, "git/objects/config"))).toBe(true)
})
