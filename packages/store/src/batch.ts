/** Asks for one item; the answer comes with those of the others that were asked for at the same time. */
export type Batcher<Item, Answer> = (item: Item) => Promise<Answer>

interface Waiting<Item, Answer> {
  item: Item
  resolve: (answer: Answer) => void
  reject: (error: unknown) => void
}

/** Calls under way at a time: one that waits for a lock must not hold up everything else. */
const CALLS = 2

/**
 * Shares round trips and commits: what is asked for while calls are under way goes together in the next one. When a
 * call fails, each of its items is tried alone, so that one bad item fails only itself.
 *
 * @param run answers its items in their order
 * @param keyOf items with the same key never go together
 * @param maxItems of one call
 */
export function createBatcher<Item, Answer>(
  run: (items: readonly Item[]) => Promise<readonly Answer[]>,
  keyOf: (item: Item) => unknown = (item) => item,
  maxItems = 64,
): Batcher<Item, Answer> {
  let waiting: Waiting<Item, Answer>[] = []
  let calls = 0

  async function answer(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await run(batch.map(({ item }) => item))
      for (const [place, one] of batch.entries()) one.resolve(answers[place] as Answer)
    } catch (error) {
      if (batch.length > 1) await Promise.all(batch.map((one) => answer([one])))
      else for (const one of batch) one.reject(error)
    }
  }
  function nextBatch(): Waiting<Item, Answer>[] {
    const batch = new Map<unknown, Waiting<Item, Answer>>()
    const later = waiting.filter((one) => {
      const key = keyOf(one.item)
      const goes = batch.size < maxItems && !batch.has(key)
      if (goes) batch.set(key, one)
      return !goes
    })
    waiting = later
    return [...batch.values()]
  }
  async function serve(): Promise<void> {
    calls++
    // What arrived in the same turn of the event loop goes along.
    await new Promise(setImmediate)
    while (waiting.length > 0) await answer(nextBatch())
    calls--
  }

  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    waiting.push({ item, resolve, reject })
    if (calls < CALLS) serve()
    return promise
  }
}
