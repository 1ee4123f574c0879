import { expect, onTestFinished, test, vi } from "vitest"
import { createBatcher } from "./batch.ts"

test("answers what is asked for at the same time from one call", async () => {
  const calls: (readonly number[])[] = []
  const double = createBatcher<number, number>(async (items) => {
    calls.push(items)
    return items.map((item) => item * 2)
  })

  expect(await Promise.all([1, 2, 3].map(double))).toEqual([2, 4, 6])
  expect(calls).toEqual([[1, 2, 3]])
})

test("fails only the item that cannot be answered", async () => {
  const ask = createBatcher<string, string>(async (items) => {
    if (items.includes("bad")) throw new Error("a bad item")
    return [...items]
  })

  const answers = await Promise.allSettled(["a", "bad", "c"].map(ask))

  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"])
})

test("never lets two items with the same key go together", async () => {
  const calls: string[] = []
  const ask = createBatcher<string, string>(
    async (items) => {
      calls.push(items.join(" "))
      return [...items]
    },
    (item) => item[0],
  )

  await Promise.all(["a1", "b1", "a2"].map(ask))

  expect(calls).toEqual(["a1 b1", "a2"])
})

test("sends at most 64 items in a call", async () => {
  const sizes: number[] = []
  const ask = createBatcher<number, number>(async (items) => {
    sizes.push(items.length)
    return [...items]
  })

  await Promise.all(Array.from({ length: 100 }, (_, item) => ask(item)))

  expect(sizes).toEqual([64, 36])
})

/** What was asked for or answered before it is under way after two of these. */
const turn = () => new Promise(setImmediate)

test("lets what comes meanwhile go together, after the call that is under way", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  onTestFinished(() => void vi.useRealTimers())
  const calls: string[] = []
  const first = Promise.withResolvers<void>()
  const ask = createBatcher<string, string>(async (items) => {
    calls.push(items.join(" "))
    if (items.includes("a")) await first.promise
    return [...items]
  })

  const early = ask("a")
  await turn()
  const late = ["b", "c"].map(ask)
  await turn()
  await turn()
  expect(calls).toEqual(["a"])
  first.resolve()
  await Promise.all([early, ...late])

  expect(calls).toEqual(["a", "b c"])
})

test("goes on beside a call that is stuck, and one at a time again after it", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  onTestFinished(() => void vi.useRealTimers())
  const calls: string[] = []
  const open = { stuck: Promise.withResolvers<void>(), d: Promise.withResolvers<void>() }
  const ask = createBatcher<string, string>(async (items) => {
    calls.push(items.join(" "))
    if (items.includes("stuck")) await open.stuck.promise
    if (items.includes("d")) await open.d.promise
    return [...items]
  })

  const patient = ask("stuck")
  await turn()
  vi.advanceTimersByTime(20)
  expect([await ask("b"), await ask("c")]).toEqual(["b", "c"])
  open.stuck.resolve()
  await patient
  await turn()
  const later = [ask("d")]
  await turn()
  later.push(ask("e"))
  await turn()
  await turn()
  expect(calls).toEqual(["stuck", "b", "c", "d"])
  open.d.resolve()
  await Promise.all(later)

  expect(calls).toEqual(["stuck", "b", "c", "d", "e"])
})

test("leaves what has the key of a stuck item behind, and nobody waits for it", async () => {
  const calls: string[] = []
  const stuck = Promise.withResolvers<void>()
  const ask = createBatcher<string, string>(
    async (items) => {
      calls.push(items.join(" "))
      if (items.includes("a1")) await stuck.promise
      return [...items]
    },
    (item) => item[0],
  )

  const first = ask("a1")
  await vi.waitFor(() => expect(calls).toEqual(["a1"]))
  const second = ask("a2")
  expect(await ask("b1")).toBe("b1")
  expect(await ask("c1")).toBe("c1")
  stuck.resolve()

  expect(await Promise.all([first, second])).toEqual(["a1", "a2"])
  expect(calls).toEqual(["a1", "b1", "c1", "a2"])
})

test("goes on with what waited for a call that outlasted the one it helped", async () => {
  const calls: string[] = []
  const stuck = { a1: Promise.withResolvers<void>(), b1: Promise.withResolvers<void>() }
  const ask = createBatcher<string, string>(
    async (items) => {
      calls.push(items.join(" "))
      if (items.includes("a1")) await stuck.a1.promise
      if (items.includes("b1")) await stuck.b1.promise
      return [...items]
    },
    (item) => item[0],
  )

  const first = ask("a1")
  await vi.waitFor(() => expect(calls).toEqual(["a1"]))
  const helped = ask("b1")
  await vi.waitFor(() => expect(calls).toEqual(["a1", "b1"]))
  const late = ask("b2")
  stuck.a1.resolve()
  await first
  stuck.b1.resolve()

  expect(await Promise.all([helped, late])).toEqual(["b1", "b2"])
  expect(calls).toEqual(["a1", "b1", "b2"])
})
