import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { findChromium } from "./install-chromium.ts"

function folderWith(...names: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "chromium-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const name of names) {
    writeFileSync(join(folder, name), "#!/bin/sh\n")
    chmodSync(join(folder, name), 0o755)
  }
  return folder
}

// R-SETUP-1
test("prefers Chromium under its usual name, and takes what else there is", () => {
  const both = folderWith("google-chrome", "chromium")
  const chrome = folderWith("google-chrome")

  expect(findChromium(both)).toBe(join(both, "chromium"))
  expect(findChromium(chrome)).toBe(join(chrome, "google-chrome"))
  expect(findChromium(folderWith("firefox"))).toBeNull()
})
