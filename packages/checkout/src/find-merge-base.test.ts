// R-CHECKOUT-9

import { afterAll, beforeAll, expect, test, vi } from "vitest"
import type { TestRepository } from "./testing/repository.ts"
import { openWorkbench, type Workbench } from "./testing/workbench.ts"

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 })

let bench: Workbench
let repository: TestRepository
beforeAll(async () => {
  bench = await openWorkbench()
  repository = bench.repository("sample.git")
})
afterAll(() => bench.close())

test("deepens until a far merge base is found", async () => {
  const fork = repository.commit({ a: "1\n" })
  const base = repository.chain(fork, 100, 1)
  const head = repository.commit({ a: "2\n" }, [fork], { minute: 200 })
  expect((await bench.prepare("sample.git", base, head)).mergeBaseSha).toBe(fork)
})

test("does not trust an early common commit while a later one may lie behind the cut", async () => {
  const early = repository.commit({ a: "1\n" })
  const late = repository.chain(early, 3, 1)
  const head = repository.commit({ a: "2\n" }, [late], { minute: 200 })
  const base = repository.commit({ a: "1\n" }, [repository.chain(late, 80, 10), early], { minute: 201 }) // a short way to `early`, a long one to `late`
  expect((await bench.prepare("sample.git", base, head)).mergeBaseSha).toBe(late)
})
