import { isGalleyErrorCode } from "@galley/contract/errors"
import type { PageContext } from "../page-env.ts"
import { explain } from "../words.ts"
import { Layout } from "./layout.tsx"

const titles: Readonly<Record<string, string>> = {
  not_found: "Not found",
  forbidden: "Not allowed",
  sign_in_required: "Sign in first",
  internal_error: "Something went wrong",
}

export function ErrorPage({ c, code, message }: { c: PageContext; code: string; message: string }) {
  const title = titles[code] ?? "That did not work"
  const words = isGalleyErrorCode(code) ? explain(code) : code
  const own = `${message[0]?.toUpperCase() ?? ""}${message.slice(1)}.`
  return (
    <Layout c={c} title={title}>
      <h1>{title}</h1>
      <p>{words === code ? own : words}</p>
      <p class="muted">
        Code: <code>{code}</code>
      </p>
      <p>
        <a href="/">Back to your projects</a>
      </p>
    </Layout>
  )
}
