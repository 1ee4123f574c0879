import { type Browser, chromium, type Page } from "playwright-core"
import { findChromium } from "../../scripts/setup/install-chromium.ts"

const FLAGS = [
  // Chromium refuses its own sandbox to root; only pages of this repository are opened.
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
]

/** Starts the system's Chromium. Throws, rather than skip, when there is none. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === null) throw new Error("browser tests need Chromium on PATH: run `node scripts/setup/setup.ts --browser`")
  return chromium.launch({ executablePath, args: FLAGS })
}

/** A page of its own that notes everything a page must never do. */
export type WatchedPage = Readonly<{
  page: Page
  /** Console errors and warnings, script errors, failed requests, answers of 400 and more, requests to other hosts. */
  complaints: string[]
  close(): Promise<void>
}>

export async function openPage(browser: Browser, baseURL: string, colorScheme: "light" | "dark" = "light"): Promise<WatchedPage> {
  const context = await browser.newContext({ baseURL, colorScheme, viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(`console: ${message.text()}`)
  })
  page.on("pageerror", (error) => complaints.push(`script: ${error.message}`))
  page.on("requestfailed", (request) => {
    // A live stream ends with its page.
    if (!request.url().endsWith("/events")) complaints.push(`request: ${request.url()} ${request.failure()?.errorText}`)
  })
  page.on("response", (response) => {
    if (response.status() >= 400) complaints.push(`answer: ${response.status()} ${response.url()}`)
  })
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(baseURL).origin) complaints.push(`foreign: ${request.url()}`)
  })
  return { page, complaints, close: () => context.close() }
}
