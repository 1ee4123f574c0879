import { expect, test } from "vitest"
import { PAGE_SIZE, readPages } from "./read-pages.ts"

const pagesOf = (total: number) => async (page: number) =>
  Array.from({ length: Math.max(0, Math.min(PAGE_SIZE, total - (page - 1) * PAGE_SIZE)) })

async function count(maxPages: number, total: number): Promise<number> {
  let counted = 0
  for await (const items of readPages(maxPages, pagesOf(total))) counted += items.length
  return counted
}

test("reads a list to its end", async () => {
  expect(await Promise.all([0, 99, 100, 299].map((total) => count(3, total)))).toEqual([0, 99, 100, 299])
})

test("never passes a list off as whole that is longer than its bound", async () => {
  await expect(count(3, 301)).rejects.toMatchObject({ code: "internal_error" })
})
