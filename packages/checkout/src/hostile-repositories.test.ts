import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import type { Checkout } from "./checkout.ts"
import { filesBelow, openWorkbench, type Workbench } from "./testing/workbench.ts"

type Built = Readonly<Record<"ODD01" | "ODD02" | "ODD04" | "ODD05", { base: string; head: string; oldHead?: string }>>

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 })

let bench: Workbench
let built: Built
let marks = ""

beforeAll(async () => {
  bench = await openWorkbench()
  marks = join(bench.root, "..", "marks")
  mkdirSync(marks)
  const script = join(import.meta.dirname, "fixtures/odd.py")
  built = JSON.parse(execFileSync("python3", [script, "--out", bench.root, "--marks", marks], { encoding: "utf8" }))
})

afterAll(() => bench.close())

function prepare(name: keyof Built, previousHeadSha: string | null = null): Promise<Checkout> {
  return bench.prepare(`${name}.git`, built[name].base, built[name].head, { previousHeadSha })
}

function reasons(checkout: Checkout): Readonly<Record<string, string>> {
  return Object.fromEntries(checkout.omitted.omissions.map(({ path, reason }) => [path, reason]))
}

// ODD01
describe("awkward but legal", () => {
  let checkout: Checkout
  beforeAll(async () => {
    checkout = await prepare("ODD01")
  })

  test("declares every change that may not be shown with its reason", () => {
    const deep = `${Array(300).fill("d").join("/")}/deep.ts`
    const long = `${Array(22).fill("x".repeat(200)).join("/")}/long.ts`
    const links = ["abs-link", "up-link", "in-link", "dir-link", "loop-link", "dangling"].map((path) => [path, "symlink"])
    expect(reasons(checkout)).toEqual({
      ...Object.fromEntries(links),
      "vendor/lib": "submodule",
      "limit-plus1.txt": "file_too_large",
      "one-line.js": "line_too_long",
      "nul.txt": "binary",
      "late-nul.txt": "binary",
      "utf16.txt": "binary",
      "latin1.txt": "not_utf8",
      "bad-utf8.ts": "not_utf8",
      "a\\b.txt": "path_unsafe",
      "C:\\win\\x.txt": "path_unsafe",
      "latin1-name-\\351.txt": "path_unsafe",
      [deep]: "path_too_long",
      [long]: "path_too_long",
    })
    expect(checkout.omitted.omissions.every((omission) => omission.changed)).toBe(true)
  })

  test("shows or omits every changed path, none is lost", () => {
    const paths = checkout.changedFiles.flatMap((file) => [file.path, ...(file.previousPath === null ? [] : [file.previousPath])])
    expect(new Set(paths).size).toBe(54)
    expect(checkout.headPaths.size).toBe(53)
  })

  test("writes awkward names and exact bytes", async () => {
    const files = filesBelow(checkout.treePath)
    expect(files.get("line\nbreak.txt")).toBe("newline in name\n")
    expect(files.get("README.md")).toBe("# sample\n")
    expect(files.get("README.MD")).toBe("differs by case only\n")
    expect(files.has("caf\u00e9.ts") && files.has("cafe\u0301.ts")).toBe(true)
    expect(files.get("limit-equal.txt")).toHaveLength(524_288)
    expect(files.get("win.txt")).toBe("one\r\nTWO\r\nthree\n")
    expect(files.size).toBe(checkout.lineCounts.size)
    expect(await checkout.readText("mac.txt", "head", AbortSignal.timeout(5_000))).toBe("one\rtwo\rthree")
  })

  test("holds the one real bug as a hunk", () => {
    const bug = checkout.changedFiles.find((file) => file.path === "src/app.ts")
    expect(bug).toMatchObject({ status: "modified", changedLines: [{ start: 1, end: 1 }], additions: 1, deletions: 1 })
    expect(bug?.patch).toContain("+export const add = (a: number, b: number) => a - b;")
  })
})

// ODD02
describe("hostile", () => {
  let checkout: Checkout
  beforeAll(async () => {
    checkout = await prepare("ODD02", built.ODD02.oldHead ?? null)
  })

  // R-CHECKOUT-5
  test("omits discovery inputs, credentials, the submodule and the pointer, and nothing else", () => {
    const counts = Object.groupBy(checkout.omitted.omissions, (omission) => omission.reason)
    const sizes = Object.fromEntries(Object.entries(counts).map(([reason, list]) => [reason, list.length]))
    // The pull request's page counts 46; .claude/settings.json and the pointer model.bin are left out as well.
    expect(sizes).toEqual({ discovery_input: 28, credential_like: 18, submodule: 1, lfs_pointer: 1 })
    expect(checkout.omitted.total).toBe(48)
  })

  // R-CHECKOUT-5
  test("lets no byte of discovery inputs and credentials into the export", () => {
    const exported = [...filesBelow(checkout.treePath)]
    expect(exported.filter(([, text]) => /SENTINEL-(?:1\d|2[0-5]|50)\b/.test(text)).map(([path]) => path)).toEqual([])
    expect(exported.some(([path]) => /opencode|tui\.json|\.claude|\.agents/.test(path))).toBe(false)
  })

  test("keeps credentials out of the diff and discovery inputs in it", () => {
    expect(checkout.diff).not.toContain("SENTINEL-50")
    expect(checkout.diff).toContain("diff --git a/.opencode/agent/a.md")
    expect(checkout.changedFiles.find((file) => file.path === "opencode.json")).toMatchObject({ omitted: null, additions: 1 })
  })

  // R-CHECKOUT-6
  test("keeps rules files and the shared environment example readable", () => {
    const paths = ["AGENTS.md", "src/AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md", ".env.example", "api/.env.example", ".gitattributes"]
    expect(paths.filter((path) => !checkout.lineCounts.has(path))).toEqual([])
  })

  // R-CHECKOUT-10
  test("changes no byte by the attributes of the pull request", () => {
    expect(filesBelow(checkout.treePath).get("src/app.ts")).toBe("export const add = (a: number, b: number) => a + b;\n")
  })

  test("answers no text for what the export leaves out", async () => {
    const read = (path: string): Promise<string | null> => checkout.readText(path, "head", AbortSignal.timeout(5_000))
    expect(await Promise.all([".env", "opencode.json", "x", "model.bin", "../outside", "none"].map(read))).toEqual(Array(6).fill(null))
  })

  // R-CHECKOUT-1, R-CHECKOUT-12
  test("compares with an earlier head that is on no branch any more", () => {
    const previousHeadSha = built.ODD02.oldHead
    expect(checkout.comparison).toEqual({ kind: "exact", previousHeadSha, changedPaths: new Set(["old.ts"]) })
  })

  // R-CHECKOUT-10
  test("springs no trap", () => {
    expect(readdirSync(marks)).toEqual([])
  })
})

// ODD04, R-CHECKOUT-9
test("fails for two histories without a common commit", async () => {
  await expect(prepare("ODD04")).rejects.toMatchObject({ code: "merge_base_missing" })
})

// ODD05
test("shows no changed file of an empty pull request", async () => {
  const checkout = await prepare("ODD05")
  expect(checkout).toMatchObject({ changedFiles: [], diff: "", omitted: { total: 0 } })
})
