/**
 * Fails when a file imports what its own package.json does not name, leaves its package by a relative path, uses a workspace entry point that
 * `import-rules.json` does not grant, or when only a test asks for it, a development dependency from product code.
 */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { builtinModules } from "node:module"
import path from "node:path"
import ts from "typescript"

const SCOPE = "@galley/"
const rules: Record<string, string[]> = JSON.parse(readFileSync("import-rules.json", "utf8"))

type Manifest = { dependencies?: Record<string, string>; devDependencies?: Record<string, string> }

function sources(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const file = path.join(directory, name)
    if (["node_modules", "dist", "fixtures"].includes(name)) return []
    if (statSync(file).isDirectory()) return sources(file)
    return /\.tsx?$/.test(name) ? [file] : []
  })
}

const packageName = (id: string) =>
  id
    .split("/")
    .slice(0, id.startsWith("@") ? 2 : 1)
    .join("/")
const isTest = (root: string, file: string) =>
  root === "tests" || root === "scripts" || /\.test\.tsx?$/.test(file) || file.includes(`${path.sep}testing${path.sep}`)

function granted(grants: string[], entry: string): boolean {
  return grants.some((grant) => grant === "*" || grant === entry || (!grant.includes("/") && grant === entry.split("/")[0]))
}

function problemOf(root: string, file: string, id: string, named: ReadonlySet<string>): string | null {
  if (id.startsWith("node:") || builtinModules.includes(id)) return null
  if (id.startsWith(".")) {
    const target = path.resolve(path.dirname(file), id)
    // Scripts, tests and benchmarks may share files of the repository's own tooling; packages and apps may not leave their folder.
    if (["tests", "scripts", "bench"].includes(root) || target.startsWith(path.resolve(root) + path.sep)) return null
    return `leaves its package: ${id}`
  }
  if (root !== "scripts" && !named.has(packageName(id))) return `${packageName(id)} is not named in ${root}/package.json`
  if (id.startsWith(SCOPE) && !granted(rules[root] ?? [], id.slice(SCOPE.length)))
    return `import-rules.json does not grant ${id} to ${root}`
  return null
}

const problems: string[] = []
for (const root of Object.keys(rules)) {
  const manifest: Manifest = root === "scripts" ? {} : JSON.parse(readFileSync(`${root}/package.json`, "utf8"))
  for (const file of sources(root)) {
    const named = new Set([
      ...Object.keys(manifest.dependencies ?? {}),
      ...(isTest(root, file) ? [...Object.keys(manifest.devDependencies ?? {}), "vitest"] : []),
    ])
    for (const { fileName: id } of ts.preProcessFile(readFileSync(file, "utf8"), true, true).importedFiles) {
      const problem = problemOf(root, file, id, named)
      if (problem !== null) problems.push(`${file}: ${problem}`)
    }
  }
}
for (const problem of problems) console.error(problem)
process.exit(problems.length === 0 ? 0 : 1)
