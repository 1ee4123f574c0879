import { expect, test } from "vitest"
import { classifyFetchFailure } from "./classify-fetch-failure.ts"

test.each([
  ["fatal: remote error: upload-pack: not our ref 1111", "checkout_ref_unavailable"],
  ["error: Server does not allow request for unadvertised object 1111", "checkout_ref_unavailable"],
  ["fatal: unable to access 'https://h/': The requested URL returned error: 403", "github_unauthorized"],
  ["fatal: could not read Username for 'https://h': terminal prompts disabled", "github_unauthorized"],
  ["fatal: Authentication failed for 'https://h/'", "github_unauthorized"],
  ["remote: Repository not found.\nfatal: repository 'https://h/o/r.git/' not found", "github_unauthorized"],
  ["fatal: unable to access 'https://h/': The requested URL returned error: 302", "checkout_fetch_failed"],
  ["fatal: unable to access 'https://h/': The requested URL returned error: 503", "checkout_fetch_failed"],
  ["fatal: unable to access 'https://h/': Could not resolve host: h", "checkout_fetch_failed"],
  ["error: RPC failed; curl 18 transfer closed\nfatal: early EOF\nfatal: fetch-pack: invalid index-pack output", "checkout_fetch_failed"],
  ["fatal: write error: No space left on device\nfatal: fetch-pack: invalid index-pack output", "checkout_quota_exceeded"],
  ["fatal: Out of memory, malloc failed (tried to allocate 1 bytes)", "checkout_quota_exceeded"],
  ["error: index-pack died of signal 25", "checkout_quota_exceeded"],
  ["error: object 1: gitmodulesUrl: disallowed submodule url\nfatal: fsck error in packed object", "checkout_objects_refused"],
] as const)("reads %j", (stderr, code) => {
  expect(classifyFetchFailure(stderr)).toBe(code)
})
