import type { Context as HonoContext } from "hono"

const DEFAULT_PER_PAGE = 30
const MAX_PER_PAGE = 100

/**
 * The page a request asks for (`per_page` 1 to 100, default 30; `page` from 1), and the Link header that leads on.
 *
 * @param address full address of the list, without query; other query parameters of the request are kept
 */
export function paginate<T>(
  items: readonly T[],
  c: HonoContext,
  address: string,
): { items: readonly T[]; headers: Record<string, string> } {
  const perPage = clamp(c.req.query("per_page"), DEFAULT_PER_PAGE, MAX_PER_PAGE)
  const page = clamp(c.req.query("page"), 1, Number.MAX_SAFE_INTEGER)
  const last = Math.max(1, Math.ceil(items.length / perPage))
  const to = (target: number, rel: string) => {
    const query = new URLSearchParams({ ...c.req.query(), page: String(target) })
    return `<${address}?${query}>; rel="${rel}"`
  }
  const links = [
    ...(page > 1 ? [to(Math.min(page - 1, last), "prev")] : []),
    ...(page < last ? [to(page + 1, "next"), to(last, "last")] : []),
    ...(page > 1 ? [to(1, "first")] : []),
  ]
  return {
    items: items.slice((page - 1) * perPage, page * perPage),
    headers: links.length > 0 ? { link: links.join(", ") } : {},
  }
}

/** A positive whole number, or the fallback; at most `max`. */
export function clamp(value: string | undefined, fallback: number, max: number): number {
  const number = Number(value)
  return Number.isInteger(number) && number >= 1 ? Math.min(number, max) : fallback
}
