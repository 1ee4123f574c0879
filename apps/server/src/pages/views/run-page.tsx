import type { RunDetail } from "@galley/store/runs/get-run"
import type { PageContext } from "../page-env.ts"
import { kindNames } from "../words.ts"
import { Layout } from "./layout.tsx"
import { isOver, RunBody, RunStatus } from "./run-parts.tsx"

/** One run. While it goes on, its events (`live/stream-run.tsx`) replace the status line and the body. */
export function RunPage({ c, detail }: { c: PageContext; detail: RunDetail }) {
  const { run, project, pullRequest } = detail
  const base = `/w/${c.get("workspace").slug}`
  const title = `${kindNames[run.reviewKind]} of #${pullRequest.number}`
  const live = isOver(detail) ? {} : { "hx-ext": "sse", "sse-connect": `${base}/runs/${run.id}/events`, "sse-close": "over" }
  return (
    <Layout c={c} title={title} section="runs">
      <p class="crumbs">
        <a href={`${base}/projects/${project.id}`}>
          {project.owner}/{project.name}
        </a>
        <a href={`${base}/projects/${project.id}/pulls/${pullRequest.number}`}>
          #{pullRequest.number} {pullRequest.title}
        </a>
      </p>
      <div {...live}>
        <div class="title">
          <h1>{title}</h1>
          <span class="grow"></span>
          {pullRequest.commentId === null ? null : (
            <a class="button" href={`${pullRequest.webUrl}#issuecomment-${pullRequest.commentId}`} rel="noreferrer">
              Summary comment
            </a>
          )}
        </div>
        <p class="status" role="status" sse-swap="status">
          <RunStatus detail={detail} />
        </p>
        <div sse-swap="body">
          <RunBody detail={detail} />
        </div>
      </div>
    </Layout>
  )
}
