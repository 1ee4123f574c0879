import type { Child } from "hono/jsx"
import { assetPath } from "../assets/assets.ts"
import { type PageContext, visitOf } from "../page-env.ts"

/** What a redirect after a change says on the page it leads to. */
const doneWords: Readonly<Record<string, string>> = {
  saved: "Settings saved.",
  "skill-reset": "The shipped skill is back.",
  queued: "A review is queued.",
  cancelled: "The job is cancelled. A running one stops with its runner's next heartbeat.",
  "token-revoked": "The old token is refused from now on.",
  "runner-paused": "The runner is paused. What it works on goes on.",
  "runner-resumed": "The runner takes reviews again.",
  "runner-removed": "The runner is removed. What it worked on waits for another one.",
}

/** htmx without its inline style and without eval: the content security policy allows neither. */
const htmxConfig = JSON.stringify({ includeIndicatorStyles: false, allowEval: false, selfRequestsOnly: true })

export type Section = "projects" | "runs" | "runners"

type LayoutProps = { c: PageContext; title: string; section?: Section; children?: Child }

/** A whole document. */
export function page(element: { toString(): string }): string {
  return `<!doctype html>${element.toString()}`
}

export function Layout({ c, title, section, children }: LayoutProps) {
  const nonce = c.get("secureHeadersNonce")
  const done = doneWords[c.req.query("done") ?? ""]
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="htmx-config" content={htmxConfig} />
        <title>{`${title} · Galley`}</title>
        <link rel="icon" href={assetPath("icon.svg")} />
        <link rel="stylesheet" href={assetPath("pages.css")} />
        {(["htmx.js", "sse.js", "pages.js"] as const).map((name) => (
          <script src={assetPath(name)} nonce={nonce} defer></script>
        ))}
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <Header c={c} section={section ?? null} />
        <main id="main" tabindex={-1}>
          {done === undefined ? null : (
            <p class="notice good" role="status">
              {done}
            </p>
          )}
          {children}
        </main>
      </body>
    </html>
  )
}

function Header({ c, section }: { c: PageContext; section: Section | null }) {
  const { user, workspace } = visitOf(c)
  const link = (name: Section, label: string) => (
    <a href={`/w/${workspace?.slug ?? ""}/${name}`} aria-current={section === name ? "page" : undefined}>
      {label}
    </a>
  )
  return (
    <header class="bar">
      <a class="brand" href="/">
        <img src={assetPath("icon.svg")} alt="" width="20" height="20" />
        Galley
      </a>
      {workspace === null ? null : (
        <>
          <a class="workspace" href="/workspaces" title="All workspaces">
            {workspace.name}
          </a>
          <nav aria-label="Main">
            {link("projects", "Projects")}
            {link("runs", "Runs")}
            {link("runners", "Runners")}
          </nav>
        </>
      )}
      {user === null ? null : (
        <form class="user" method="post" action="/sign-out">
          <span>{user.name === "" ? user.login : user.name}</span>
          <button type="submit" class="quiet">
            Sign out
          </button>
        </form>
      )}
    </header>
  )
}
