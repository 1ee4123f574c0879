import { isUtf8 } from "node:buffer"

/**
 * A path as git stores it, as text. Bytes that are not UTF-8 are shown as `\351` like git shows them; the backslash makes
 * the export policy refuse the path, so it can never be taken for another one.
 *
 * @param latin1 the path's bytes, one per character
 */
export function decodePath(latin1: string): string {
  if (!/[\x80-\xff]/.test(latin1)) return latin1
  const bytes = Buffer.from(latin1, "latin1")
  if (isUtf8(bytes)) return bytes.toString("utf8")
  return latin1.replace(/[\x80-\xff]/g, (byte) => `\\${byte.charCodeAt(0).toString(8)}`)
}
