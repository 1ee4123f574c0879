import { randomBytes } from "node:crypto"
import { Hono, type MiddlewareHandler } from "hono"
import type { ContentfulStatusCode } from "hono/utils/http-status"
import type { Actions } from "./bind-actions.ts"
import type { Context, Env } from "./context.ts"
import { readCredential } from "./credential.ts"
import { injectFaults } from "./inject-faults.ts"
import type { Links } from "./links.ts"
import { callerOf, rateHeaders } from "./rate-limit.ts"
import { describeCaller } from "./request-log.ts"
import { errorBody, notFound, RestError } from "./rest-error.ts"
import { adminRoutes } from "./routes/admin-routes.ts"
import { appRoutes } from "./routes/app-routes.ts"
import { appSetUpRoutes } from "./routes/app-set-up-routes.ts"
import { commentRoutes } from "./routes/comment-routes.ts"
import { contentRoutes } from "./routes/content-routes.ts"
import { gitRoutes } from "./routes/git-routes.ts"
import { graphqlRoutes } from "./routes/graphql-routes.ts"
import { hookRoutes } from "./routes/hook-routes.ts"
import { installationRoutes } from "./routes/installation-routes.ts"
import { metaRoutes } from "./routes/meta-routes.ts"
import { pageRoutes } from "./routes/page-routes.ts"
import { pullRoutes } from "./routes/pull-routes.ts"
import { repositoryRoutes } from "./routes/repository-routes.ts"
import { signInRoutes } from "./routes/sign-in-routes.ts"
import { userRoutes } from "./routes/user-routes.ts"
import { timestamp } from "./state.ts"

/** The two faces of one GitHub: a GHES host, and api.github.com with REST at the root. */
export function createApp(context: Context, actions: Actions): { ghes: Hono<Env>; root(links: Links): Hono<Env> } {
  const signIn = signInRoutes(context)
  const setUp = appSetUpRoutes(context)
  const rest = restRoutes(context)
  const ghes = new Hono<Env>()
    .route("/", adminRoutes(context, actions))
    .use(...everyRequest(context, context.links))
    .route("/", signIn)
    .route("/", setUp)
    .route("/api/v3", rest)
    .route("/api", graphqlRoutes())
    .route("/", gitRoutes(context))
    .route("/", pageRoutes(context))
  const root = (links: Links) =>
    new Hono<Env>()
      .use(...everyRequest(context, links))
      .route("/", signIn)
      .route("/", graphqlRoutes())
      .route("/", rest)
  return { ghes: withErrors(ghes), root: (links) => withErrors(root(links)) }
}

function restRoutes(context: Context): Hono<Env> {
  const rest = new Hono<Env>().use(countCalls(context))
  for (const routes of [
    appRoutes,
    hookRoutes,
    installationRoutes,
    repositoryRoutes,
    pullRoutes,
    commentRoutes,
    contentRoutes,
    userRoutes,
    metaRoutes,
  ]) {
    rest.route("/", routes(context))
  }
  return rest
}

/** What happens around every request: it is recorded, its caller is read, and faults may strike. */
function everyRequest(context: Context, links: Links): [MiddlewareHandler<Env>, MiddlewareHandler<Env>, MiddlewareHandler<Env>] {
  const record: MiddlewareHandler<Env> = async (c, next) => {
    c.set("links", links)
    await next()
    const { pathname, search } = new URL(c.req.url)
    context.requests.add({
      at: timestamp(context.now()),
      method: c.req.method,
      path: pathname + search,
      status: c.res.headers.has("x-hono-already-sent") ? 0 : c.res.status,
      caller: describeCaller(c.get("credential")),
      fault: c.get("fault") ?? null,
    })
  }
  const authenticate: MiddlewareHandler<Env> = async (c, next) => {
    c.set("credential", readCredential(c.req.header("authorization"), context.state, context.now()))
    await next()
  }
  return [record, authenticate, injectFaults(context)]
}

/** Counts a REST call against its caller's hour and says so in the headers; 403 when the hour is spent. */
function countCalls({ rateLimits }: Context): MiddlewareHandler<Env> {
  return async (c, next) => {
    const credential = c.get("credential")
    const free = c.req.path.endsWith("/rate_limit")
    const { rate, allowed } = free ? { rate: rateLimits.read(credential), allowed: true } : rateLimits.spend(credential)
    if (!allowed) throw new RestError(403, `API rate limit exceeded for ${callerOf(credential)}.`, { headers: rateHeaders(rate) })
    await next()
    if (c.res.headers.has("x-hono-already-sent")) return
    for (const [name, value] of Object.entries(rateHeaders(rate))) c.res.headers.set(name, value)
    c.res.headers.set("x-github-request-id", randomBytes(8).toString("hex").toUpperCase())
    c.res.headers.set("x-github-media-type", "github.v3; format=json")
    if (c.get("links").flavour === "ghes") c.res.headers.set("x-github-enterprise-version", "3.17.0")
  }
}

function withErrors(app: Hono<Env>): Hono<Env> {
  app.notFound((c) => c.json(errorBody(notFound()), 404))
  app.onError((error, c) => {
    const answer = error instanceof RestError ? error : new RestError(500, error.message)
    return c.json(errorBody(answer), answer.status as ContentfulStatusCode, answer.headers)
  })
  return app
}
