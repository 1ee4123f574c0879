import { expect, test } from "vitest"
import { launchChromium, openPage } from "./chromium.ts"
import { startPagesRig } from "./pages-rig.ts"

// R-PAGE-9
test("shows its pages with style and scripts when it runs from one bundled file", async () => {
  await using stack = new AsyncDisposableStack()
  const rig = stack.adopt(await startPagesRig({ bundled: true }), ({ stop }) => stop())
  const browser = stack.adopt(await launchChromium(), (started) => started.close())
  const { page, complaints } = await openPage(browser, rig.url)

  await page.goto("/sign-in")
  await page.getByRole("button", { name: "Continue as the demo user" }).click()
  await page.getByRole("heading", { name: "Projects" }).waitFor()

  expect(await page.evaluate(() => "htmx" in window)).toBe(true)
  expect(await page.locator("header.bar").evaluate((bar) => getComputedStyle(bar).display)).toBe("flex")
  expect(complaints).toEqual([])
})
