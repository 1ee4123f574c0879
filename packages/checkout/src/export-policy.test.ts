import { defaultJobLimits as limits } from "@galley/contract/limits"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { judgeContent, judgePath } from "./export-policy.ts"

const FILE = "100644"

describe("paths", () => {
  test.each(["src/app.ts", "...", "-rf", ":(top)x.ts", "con", "a b/c'd.ts", "line\nbreak.txt", "日本語.md", ".gitignore", ".github/x.yml"])(
    "lets the ordinary or merely awkward path %j through",
    (path) => expect(judgePath(FILE, path, limits)).toBeNull(),
  )

  // R-CHECKOUT-6
  test.each(["AGENTS.md", "src/AGENTS.md", "CONTEXT.md", "CLAUDE.md", "CONTRIBUTING.md", ".cursorrules", ".mcp.json"])(
    "keeps the rules file %s as readable evidence",
    (path) => expect(judgePath(FILE, path, limits)).toBeNull(),
  )

  test.each([
    "../x",
    "a/../b",
    "/abs",
    "a//b",
    "./x",
    "C:/x",
    "c:\\x",
    "a\\b",
    "latin1-\\351.txt",
    ".git/config",
    "sub/.GIT/hooks/x",
    "git~1",
    "GIT~2/x",
    ".g\u200cit/x",
    ".git./x",
    ".git /x",
    ".git::$INDEX_ALLOCATION/x",
  ])("refuses the unsafe path %j", (path) => expect(judgePath(FILE, path, limits)).toBe("path_unsafe"))

  // R-CHECKOUT-5
  test.each([
    ".opencode/plugin/x.js",
    "deep/er/.OpenCode/x",
    "opencode.json",
    "a/b/OPENCODE.JSONC",
    "tui.json",
    "x/tui.jsonc",
    ".claude/settings.json",
    "a/.agents/skills/s/SKILL.md",
    ".ignore",
    "a/.rgignore",
    ".agent\u017f/x",
    ".open\u200dcode/x",
  ])("never exports the discovery input %j", (path) => expect(judgePath(FILE, path, limits)).toBe("discovery_input"))

  test("accepts a path at each bound and refuses one more", () => {
    const name = (length: number): string => "n".repeat(length)
    const deep = (parts: number): string => Array(parts).fill("d").join("/")
    const long = (bytes: number): string => `${`${name(99)}/`.repeat(10)}${name(bytes - 1000)}`
    expect(judgePath(FILE, name(255), limits)).toBeNull()
    expect(judgePath(FILE, name(256), limits)).toBe("path_too_long")
    expect(judgePath(FILE, deep(limits.maxPathDepth), limits)).toBeNull()
    expect(judgePath(FILE, deep(limits.maxPathDepth + 1), limits)).toBe("path_too_long")
    expect(judgePath(FILE, long(limits.maxPathBytes), limits)).toBeNull()
    expect(judgePath(FILE, long(limits.maxPathBytes + 1), limits)).toBe("path_too_long")
  })

  // R-CHECKOUT-4
  test("tells links, submodules and special files by their mode", () => {
    expect(judgePath("120000", "a", limits)).toBe("symlink")
    expect(judgePath("160000", "a", limits)).toBe("submodule")
    expect(judgePath("060000", "a", limits)).toBe("special_file")
    expect(judgePath("100755", "a", limits)).toBeNull()
    expect(judgePath("100664", "a", limits)).toBeNull() // written by very old versions of git
  })

  test("names what keeps text out of the diff before what only keeps it out of the export", () => {
    expect(judgePath(FILE, ".claude/.env", limits)).toBe("credential_like")
    expect(judgePath("120000", ".opencode/x", limits)).toBe("symlink")
  })

  test("never lets a path through that could leave the export or reach a git folder", () => {
    const part = fc.oneof(fc.constantFrom("..", ".", "", ".git", ".GIT", "git~1", "a", "b.ts"), fc.string({ minLength: 1, maxLength: 6 }))
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
        if (judgePath(FILE, parts.join("/"), limits) !== null) return
        const written = parts.join("/").split("/")
        expect(written.every((name) => !["", ".", ".."].includes(name) && name.toLowerCase() !== ".git")).toBe(true)
      }),
    )
  })
})

describe("credential-like names", () => {
  // R-CHECKOUT-5
  test.each([
    ".env",
    ".env.local",
    ".ENV",
    "api/.env.production",
    ".envrc",
    ".env.example.local",
    "production.env",
    ".env/secret",
    "id_rsa",
    "id_ed25519_work",
    "keys/server.pem",
    "keys/server.KEY",
    "store.p12",
    "a.pfx",
    "a.jks",
    "app.keystore",
    "ssh_host_rsa_key",
    ".npmrc",
    ".netrc",
    "_netrc",
    ".pypirc",
    ".git-credentials",
    ".pgpass",
    ".htpasswd",
    ".dockercfg",
    ".aws/credentials",
    ".aws/config",
    ".docker/config.json",
    ".kube/config",
    ".ssh/known_hosts",
    ".gnupg/x",
    ".m2/settings.xml",
    "terraform.tfstate",
    "terraform.tfstate.backup",
    "credentials",
    "config/credentials.json",
    "secrets.yml",
    "client_secret_12.json",
    "my-service-account.json",
    "kubeconfig",
    "dev.kubeconfig",
    ".vault-token",
  ])("leaves out %s", (path) => expect(judgePath(FILE, path, limits)).toBe("credential_like"))

  test.each([
    ".env.example",
    "api/.env.example",
    "id_rsa.pub",
    "ca.crt",
    "server.csr",
    "ca.srl",
    "src/credentials.ts",
    "src/credentials/index.ts",
    "src/secrets.py",
    "docs/env.md",
    "keyboard.ts",
    "src/key.ts",
    ".yarnrc.yml",
    "environment.ts",
    "templates/secret.yaml",
  ])("keeps %s readable", (path) => expect(judgePath(FILE, path, limits)).toBeNull())
})

describe("contents", () => {
  const judge = (content: string | Buffer): string | null => judgeContent(Buffer.from(content), limits).reason

  test.each(["", "text\n", "no newline", "a\r\nb\r\n", "\ufeffexport {}\n", "日本語\n"])("accepts the text %j", (text) =>
    expect(judge(text)).toBeNull(),
  )

  test("takes a NUL at any place for binary, also behind the bytes git looks at", () => {
    expect(judge("a\0b")).toBe("binary")
    expect(judge(`${"a".repeat(9000)}\n\0`)).toBe("binary")
    expect(judge(Buffer.from("hello", "utf16le"))).toBe("binary")
  })

  // R-CHECKOUT-4
  test("refuses text that is not UTF-8", () => {
    expect(judge(Buffer.from("caf\xe9", "latin1"))).toBe("not_utf8")
  })

  test("refuses a pointer to large file storage", () => {
    expect(judge(`version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 1\n`)).toBe("lfs_pointer")
  })

  test("accepts a file and a line of exactly the limit and refuses one byte more", () => {
    const lines = (bytes: number): string => `${"x".repeat(63)}\n`.repeat(bytes / 64)
    expect(judge(lines(limits.maxFileBytes))).toBeNull()
    expect(judge(`${lines(limits.maxFileBytes)}y`)).toBe("file_too_large")
    expect(judge(`${"x".repeat(limits.maxLineBytes)}\n`)).toBeNull()
    expect(judge(`a\n${"x".repeat(limits.maxLineBytes + 1)}`)).toBe("line_too_long")
  })

  test("takes a blob the fetch left out for one over the size limit", () => {
    expect(judgeContent(null, limits).reason).toBe("file_too_large")
  })

  test.each([
    ["", 0],
    ["a", 1],
    ["a\n", 1],
    ["a\nb", 2],
    ["\n\n", 2],
    ["a\rb", 1],
  ] as const)("counts the lines of %j", (text, lines) => {
    expect(judgeContent(Buffer.from(text), limits).lines).toBe(lines)
  })
})
