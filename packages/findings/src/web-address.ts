import { GalleyError } from "@galley/contract/errors"

/** A longer address is not worth its bytes in a comment. */
const MAX_LENGTH = 1_000

/** An http(s) address without the characters that could end a Markdown link. Throws `internal_error` for another scheme. */
export function linkTarget(address: string): string {
  const url = new URL(address)
  if (url.protocol !== "https:" && url.protocol !== "http:") throw new GalleyError("internal_error", "expected an http(s) address")
  return url.href.replaceAll("(", "%28").replaceAll(")", "%29")
}

/** `https://host/owner/repository` of a pull request's address, as a link target. */
export function repositoryAddress(pullRequestUrl: string): string {
  return linkTarget(pullRequestUrl).replace(/\/pull\/\d+\/?$/, "")
}

/** Address of a file, or of lines in it, at a commit: the path percent-encoded once. Null when it is too long to be worth showing. */
export function blobAddress(
  repository: string,
  sha: string,
  path: string,
  lines: Readonly<{ start: number; end: number }> | null,
): string | null {
  const encoded = path.toWellFormed().split("/").map(encodeURIComponent).join("/").replaceAll("(", "%28").replaceAll(")", "%29")
  const anchor = lines === null ? "" : lines.start === lines.end ? `#L${lines.start}` : `#L${lines.start}-L${lines.end}`
  const address = `${repository}/blob/${sha}/${encoded}${anchor}`
  return address.length > MAX_LENGTH ? null : address
}
