import type { PageContext } from "../page-env.ts"
import { plural } from "../words.ts"
import { Layout } from "./layout.tsx"

type Props = {
  c: PageContext
  id: string
  name: string
  token: string
  /** For how long the old token goes on working; null for a runner that has had none. */
  overlapHours: number | null
}

/** The only page that ever holds a runner's token: the answer to the form that made it. */
export function RunnerTokenPage({ c, id, name, token, overlapHours }: Props) {
  const here = `/w/${c.get("workspace").slug}/runners`
  return (
    <Layout c={c} title={`Token of ${name}`} section="runners">
      <p class="crumbs">
        <a href={here}>Runners</a>
        <a href={`${here}/${id}`}>{name}</a>
      </p>
      <h1>Token of {name}</h1>
      <p class="notice warn" role="status">
        This is the only time it is shown. Copy it now.
      </p>
      <div class="settings field">
        <label for="token">GALLEY_RUNNER_TOKEN</label>
        <input id="token" class="token" value={token} readonly autocomplete="off" spellcheck={false} />
        <p class="hint">Start the runner with it as the environment variable of this name.</p>
      </div>
      {overlapHours === null ? null : (
        <p>
          {overlapHours === 0
            ? "The old token is refused from now on."
            : `The old token goes on working for ${plural(overlapHours, "hour")}. Reviews under way are not disturbed.`}
        </p>
      )}
      <p>
        <a href={`${here}/${id}`}>Go to the runner</a>
      </p>
    </Layout>
  )
}
