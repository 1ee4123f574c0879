import { scheduledQueues } from "@galley/store/tasks"
import { expect, test, vi } from "vitest"
import { startTestServer } from "./server-fixture.ts"

test("starts everything that the clock starts, by schedules that all servers share", async () => {
  const server = await startTestServer({ GALLEY_SCHEDULED_WORK: "1" })
  const { boss, sql } = server.context.store

  expect((await boss.getSchedules()).map(({ name }) => name).toSorted()).toEqual(Object.values(scheduledQueues).toSorted())
  for (const queue of Object.values(scheduledQueues)) await boss.send(queue, {})
  const states = () => sql<{ name: string; state: string }[]>`
    select name, state from pgboss.job where name = any(${Object.values(scheduledQueues)})`
  await vi.waitFor(async () => expect((await states()).map(({ state }) => state)).toEqual(Array(5).fill("completed")), { timeout: 20_000 })
  const [scan] = await sql`select scanned_until is not null as complete, cursor from delivery_scans`
  expect(scan).toEqual({ complete: true, cursor: null })
})

test("leaves a start out while a run waits or works", async () => {
  const server = await startTestServer()
  const { boss } = server.context.store

  expect(await boss.send(scheduledQueues.reconcileHeads, {})).not.toBeNull()
  expect(await boss.send(scheduledQueues.reconcileHeads, {})).toBeNull()
  const [run] = await boss.fetch(scheduledQueues.reconcileHeads)
  expect(run).toBeDefined()
  expect(await boss.send(scheduledQueues.reconcileHeads, {})).toBeNull()
})

test("does nothing by the clock where another server is to do it", async () => {
  const server = await startTestServer()
  expect(await server.context.store.boss.getSchedules()).toEqual([])
})
