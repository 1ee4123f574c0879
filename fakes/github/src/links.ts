/** Origins that addresses in answers start with, without a trailing slash. */
export type Links = Readonly<{
  /** Pages and git: `<web>/<owner>/<repo>`. */
  web: string
  /** REST: `<api>/repos/<owner>/<repo>`. */
  api: string
  flavour: "ghes" | "github.com"
}>

/** GitHub's opaque global id: base64 of a kind and the number. */
export function nodeId(kind: string, id: number | string): string {
  return Buffer.from(`${kind}:${id}`).toString("base64")
}
