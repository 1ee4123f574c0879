import { expect, test } from "vitest"
import { blobAddress, linkTarget, repositoryAddress } from "./web-address.ts"

test("a link target cannot end the Markdown link around it", () => {
  expect(linkTarget("https://github.example/a(b) c<d>\\e")).toBe("https://github.example/a%28b%29%20c%3Cd%3E/e")
})

test("an address of another scheme is refused", () => {
  expect(() => linkTarget("javascript:alert(1)")).toThrow(expect.objectContaining({ code: "internal_error" }))
})

test("the repository's address is the pull request's without its end", () => {
  expect(repositoryAddress("https://ghes.example:8443/octo/pull/pull/12")).toBe("https://ghes.example:8443/octo/pull")
})

test("a path is percent-encoded once, whatever is in it, and dropped when too long", () => {
  expect(blobAddress("https://h/o/r", "abc", "d/ü %23\ud800.ts", { start: 3, end: 3 })).toBe(
    "https://h/o/r/blob/abc/d/%C3%BC%20%2523%EF%BF%BD.ts#L3",
  )
  expect(blobAddress("https://h/o/r", "abc", "a", null)).toBe("https://h/o/r/blob/abc/a")
  expect(blobAddress("https://h/o/r", "abc", "a".repeat(1_000), null)).toBeNull()
})
