/** Asks for one item; the answer comes with those of the others that were asked for at the same time. */
export type Batcher<Item, Answer> = (item: Item) => Promise<Answer>

interface Waiting<Item, Answer> {
  item: Item
  resolve: (answer: Answer) => void
  reject: (error: unknown) => void
}

/** A call that takes longer waits for a lock, and must not hold up everything else. */
const PATIENCE_MS = 20

/**
 * Shares round trips and commits: what is asked for while a call is under way goes together in the next one. Beside a call that is stuck a
 * second one goes on. When a call fails, each of its items is tried alone, so that one bad item fails only itself.
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
  let serving = false
  let stuck = false
  let helping = false

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
    serving = true
    // What arrived in the same turn of the event loop goes along.
    await new Promise(setImmediate)
    while (waiting.length > 0) {
      const impatience = setTimeout(() => {
        stuck = true
        help()
      }, PATIENCE_MS)
      await answer(nextBatch())
      clearTimeout(impatience)
      stuck = false
    }
    serving = false
  }
  async function help(): Promise<void> {
    if (helping) return
    helping = true
    await new Promise(setImmediate)
    while (stuck && waiting.length > 0) await answer(nextBatch())
    helping = false
  }

  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    waiting.push({ item, resolve, reject })
    if (!serving) serve()
    else if (stuck) help()
    return promise
  }
}
