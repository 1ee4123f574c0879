import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** A change on disk: a git directory and two commits in it. */
export type SampleChange = Readonly<{ gitDirectory: string; baseSha: string; headSha: string; title: string; description: string }>

const BASE: Readonly<Record<string, string>> = {
  "README.md": "# Checkout service\n\nTakes a basket and books its payment.\n",
  "CONTRIBUTING.md": "# Contributing\n\nMoney is counted in whole cents, never in floating point.\n",
  "src/basket.ts": `export type Item = { sku: string; cents: number; quantity: number }

/** Sum of a basket in cents. */
export function totalCents(items: Item[]): number {
  return items.reduce((sum, item) => sum + item.cents * item.quantity, 0)
}
`,
  "src/payment.ts": `import { type Item, totalCents } from "./basket.ts"

export type Gateway = { charge(cents: number, reference: string): Promise<{ id: string }> }

/** Charges a basket once and returns the payment's id. */
export async function pay(gateway: Gateway, items: Item[], reference: string): Promise<string> {
  const payment = await gateway.charge(totalCents(items), reference)
  return payment.id
}
`,
}

const HEAD: Readonly<Record<string, string>> = {
  "src/basket.ts": `export type Item = { sku: string; cents: number; quantity: number }
export type Discount = { percent: number }

/** Sum of a basket in cents, less the discount. */
export function totalCents(items: Item[], discount?: Discount): number {
  const sum = items.reduce((total, item) => total + item.cents * item.quantity, 0)
  if (!discount) return sum
  return sum - (sum * discount.percent) / 100
}
`,
  "src/payment.ts": `import { type Discount, type Item, totalCents } from "./basket.ts"

export type Gateway = { charge(cents: number, reference: string): Promise<{ id: string }> }

const MAX_ATTEMPTS = 3

/** Charges a basket and returns the payment's id; a failed charge is tried again. */
export async function pay(gateway: Gateway, items: Item[], reference: string, discount?: Discount): Promise<string> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    try {
      const payment = await gateway.charge(totalCents(items, discount), \`\${reference}-\${attempt}\`)
      return payment.id
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error
    }
  }
  throw new Error("unreachable")
}
`,
}

/** Runs git with a clean configuration and fixed dates, so that the commit ids repeat. */
function git(directory: string, ...args: string[]): string {
  const identity = { NAME: "Sample", EMAIL: "sample@example.invalid", DATE: "2026-01-01T00:00:00Z" }
  const who = Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((role) => Object.entries(identity).map(([key, value]) => [`GIT_${role}_${key}`, value])),
  )
  const env = { PATH: process.env.PATH, HOME: directory, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", ...who }
  return execFileSync("git", ["-C", directory, ...args], { env, encoding: "utf8" }).trim()
}

function commit(directory: string, files: Readonly<Record<string, string>>, message: string): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  git(directory, "add", "--all")
  git(directory, "commit", "--quiet", "--message", message)
  return git(directory, "rev-parse", "HEAD")
}

/** Makes the sample change: a discount that leaves whole cents, and a retry that charges under a new reference each time. */
export function makeSampleRepository(directory: string): SampleChange {
  mkdirSync(directory, { recursive: true })
  git(directory, "init", "--quiet", "--initial-branch=main")
  const baseSha = commit(directory, BASE, "Add checkout")
  git(directory, "checkout", "--quiet", "-b", "discounts")
  const headSha = commit(directory, HEAD, "Add discounts and retry failed charges")
  git(directory, "checkout", "--quiet", "main")
  return {
    gitDirectory: directory,
    baseSha,
    headSha,
    title: "Add discounts and retry failed charges",
    description: "Baskets may carry a discount. A failed charge is tried up to three times.",
  }
}

/** A real change of the user's. Both revisions must exist; the repository is only read. */
export function readChange(repository: string, base: string, head: string): SampleChange {
  const resolve = (revision: string) => {
    try {
      return git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`)
    } catch {
      throw new Error(`${revision} is no commit of ${repository}`)
    }
  }
  const headSha = resolve(head)
  return {
    gitDirectory: repository,
    baseSha: resolve(base),
    headSha,
    title: git(repository, "log", "-1", "--format=%s", headSha),
    description: git(repository, "log", "-1", "--format=%b", headSha),
  }
}
