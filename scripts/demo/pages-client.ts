/** A signed-in visitor of the pages, by their JSON form. */
export type PagesClient = Readonly<{
  /** e.g. `/w/demo` */
  workspacePath: string
  get<T>(path: string): Promise<T>
  post<T>(path: string, body: unknown): Promise<T>
}>

/** Signs in as the demo user. Throws with the server's own words when a request is refused. */
export async function signIn(serverUrl: string): Promise<PagesClient> {
  let cookie = ""
  const request = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${serverUrl}${path}`, {
      method,
      redirect: "manual",
      headers: {
        accept: "application/json",
        // Form posts and JSON alike are accepted from the pages' own origin only.
        origin: serverUrl,
        ...(cookie === "" ? {} : { cookie }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${(await response.text()).slice(0, 500)}`)
    return response
  }
  const answer = await request("POST", "/sign-in/demo", {})
  cookie = answer.headers.getSetCookie()[0]?.split(";")[0] ?? ""
  const { workspaces } = (await answer.json()) as { workspaces: { slug: string }[] }
  return {
    workspacePath: `/w/${workspaces[0]?.slug ?? ""}`,
    get: async <T>(path: string) => (await (await request("GET", path)).json()) as T,
    post: async <T>(path: string, body: unknown) => (await (await request("POST", path, body)).json()) as T,
  }
}
