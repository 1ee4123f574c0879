import type { PageContext } from "../page-env.ts"
import { Layout } from "./layout.tsx"

export function SignInPage({ c, demoLogin, next }: { c: PageContext; demoLogin: boolean; next: string }) {
  return (
    <Layout c={c} title="Sign in">
      <div class="narrow card">
        <h1>Sign in</h1>
        <p>Galley reviews pull requests and keeps one summary comment on each of them up to date.</p>
        {demoLogin ? (
          <form method="post" action="/sign-in/demo">
            <input type="hidden" name="next" value={next} />
            <button type="submit" class="primary">
              Continue as the demo user
            </button>
            <p class="muted">This server listens on a loopback address only, so anybody on this machine may look around.</p>
          </form>
        ) : (
          <p class="muted">No way to sign in is configured on this server.</p>
        )}
      </div>
    </Layout>
  )
}
