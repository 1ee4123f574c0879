import { configDefaults, defineConfig } from "vitest/config"

/** One project per test level; TESTING.md says which test goes where. */
const level = (name: string, include: string[], options: Record<string, unknown> = {}) => ({
  oxc: { jsx: { runtime: "automatic" as const, importSource: "hono/jsx" } },
  test: { name, include, exclude: [...configDefaults.exclude, "**/dist/**"], ...options },
})

export default defineConfig({
  test: {
    projects: [
      level("unit", ["packages/*/src/**/*.test.ts", "apps/*/src/**/*.test.{ts,tsx}", "scripts/**/*.test.ts", "tests/chaos/*.test.ts"]),
      level("fakes", ["fakes/*/src/**/*.test.ts"]),
      level("integration", ["tests/integration/**/*.test.ts"], {
        globalSetup: ["tests/integration/postgres.ts"],
        testTimeout: 30_000,
        hookTimeout: 60_000,
      }),
      level("system", ["tests/system/**/*.test.ts"], {
        globalSetup: ["tests/integration/postgres.ts"],
        testTimeout: 180_000,
        hookTimeout: 180_000,
        fileParallelism: false,
      }),
      level("browser", ["tests/browser/**/*.test.ts"], {
        globalSetup: ["tests/integration/postgres.ts"],
        testTimeout: 120_000,
        hookTimeout: 180_000,
        fileParallelism: false,
      }),
    ],
  },
})
