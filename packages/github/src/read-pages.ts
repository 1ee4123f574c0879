import { GalleyError } from "@galley/contract/errors"

export const PAGE_SIZE = 100

/**
 * A list of GitHub page by page, each of at most `PAGE_SIZE` entries.
 *
 * @param maxPages bound against a list without an end
 * @throws `internal_error` past the bound: an incomplete list must not pass for a whole one
 */
export async function* readPages<T>(maxPages: number, fetchPage: (page: number) => Promise<readonly T[]>): AsyncGenerator<readonly T[]> {
  for (let page = 1; page <= maxPages; page++) {
    const items = await fetchPage(page)
    yield items
    if (items.length < PAGE_SIZE) return
  }
  throw new GalleyError("internal_error", `the list has more than ${maxPages * PAGE_SIZE} entries`)
}
