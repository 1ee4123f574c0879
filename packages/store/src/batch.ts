/** Asks for one item; the answer comes with those of the others that were asked for at the same time. */
export type Batcher<Item, Answer> = (item: Item) => Promise<Answer>

interface Waiting<Item, Answer> {
  item: Item
  resolve: (answer: Answer) => void
  reject: (error: unknown) => void
}

/** A call under way for longer is taken for one that waits for a lock: a second one may go on beside it. */
const PATIENCE_MS = 20

/**
 * Shares round trips and commits: what is asked for while a call is under way goes together in the next one. Beside a call that is stuck one
 * more goes on. When a call fails, each of its items is tried alone, so that one bad item fails only itself.
 *
 * @param run answers its items in their order
 * @param keyOf items with the same key are never under way at the same time
 * @param maxItems of one call
 */
export function createBatcher<Item, Answer>(
  run: (items: readonly Item[]) => Promise<readonly Answer[]>,
  keyOf: (item: Item) => unknown = (item) => item,
  maxItems = 64,
): Batcher<Item, Answer> {
  let waiting: Waiting<Item, Answer>[] = []
  const underWay = new Set<unknown>()
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
  /** Takes the next items out of those that wait; none when the keys of all are under way. */
  function nextBatch(): Waiting<Item, Answer>[] {
    const batch: Waiting<Item, Answer>[] = []
    waiting = waiting.filter((one) => {
      const key = keyOf(one.item)
      const stays = batch.length >= maxItems || underWay.has(key)
      if (!stays) {
        batch.push(one)
        underWay.add(key)
      }
      return stays
    })
    return batch
  }
  async function call(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    await answer(batch)
    for (const { item } of batch) underWay.delete(keyOf(item))
  }
  async function serve(): Promise<void> {
    serving = true
    // What arrived in the same turn of the event loop goes along.
    await new Promise(setImmediate)
    for (let batch = nextBatch(); batch.length > 0; batch = nextBatch()) {
      const impatience = setTimeout(() => {
        stuck = true
        help()
      }, PATIENCE_MS)
      await call(batch)
      clearTimeout(impatience)
      stuck = false
    }
    serving = false
  }
  async function help(): Promise<void> {
    if (helping) return
    helping = true
    await new Promise(setImmediate)
    while (stuck) {
      const batch = nextBatch()
      if (batch.length === 0) break
      await call(batch)
    }
    helping = false
    // `serve` passed over what shares a key with these items, and may have ended since.
    if (!serving && waiting.length > 0) serve()
  }

  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    waiting.push({ item, resolve, reject })
    if (!serving) serve()
    else if (stuck) help()
    return promise
  }
}
