import { expect, test } from "vitest"
import type { GitHubCall } from "./github-app.ts"
import { listHookDeliveries } from "./hook-deliveries.ts"

const attempt = (changes: Record<string, unknown> = {}) => ({
  id: 12345678,
  guid: "0B989BA4-242F-11E5-81E1-C7B6966D2516",
  delivered_at: "2026-11-30T10:00:00Z",
  redelivery: false,
  duration: 0.27,
  status: "OK",
  status_code: 200,
  event: "issues",
  action: "opened",
  installation_id: 123,
  repository_id: 456,
  throttled_at: null,
  ...changes,
})

/** A GitHub that answers with this text and Link header, and keeps what it was asked. */
function answering(text: string, link?: string): { call: GitHubCall; asked: Record<string, unknown>[] } {
  const asked: Record<string, unknown>[] = []
  const call: GitHubCall = async (_duty, _route, parameters) => {
    asked.push(parameters)
    return { data: text, headers: { link } }
  }
  return { call, asked }
}

test("keeps ids whole that do not fit a number", async () => {
  const { call } = answering(JSON.stringify([attempt()]).replace("12345678", "9223372036854775807"))
  const { deliveries } = await listHookDeliveries(call, null)
  expect(deliveries).toEqual([
    {
      attemptId: "9223372036854775807",
      deliveryId: "0b989ba4-242f-11e5-81e1-c7b6966d2516",
      event: "issues",
      deliveredAt: new Date("2026-11-30T10:00:00Z"),
      succeeded: true,
    },
  ])
})

test.each([
  [200, true],
  [202, true],
  [404, false],
  [502, false],
  [0, false],
])("takes status %d for delivered: %s", async (status_code, succeeded) => {
  const { deliveries } = await listHookDeliveries(answering(JSON.stringify([attempt({ status_code })])).call, null)
  expect(deliveries).toMatchObject([{ succeeded }])
})

test("goes from page to page by the cursor that GitHub names", async () => {
  const next = '<https://api.github.com/app/hook/deliveries?per_page=100&cursor=v1_17323292984>; rel="next"'
  const first = answering("[]", next)
  expect(await listHookDeliveries(first.call, null)).toEqual({ deliveries: [], nextCursor: "v1_17323292984" })
  expect(first.asked[0]).not.toHaveProperty("cursor")

  const last = answering("[]")
  expect((await listHookDeliveries(last.call, "v1_17323292984")).nextCursor).toBeNull()
  expect(last.asked).toMatchObject([{ cursor: "v1_17323292984", per_page: 100 }])
})
