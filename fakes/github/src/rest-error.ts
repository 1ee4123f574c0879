/** An answer other than 2xx, in the form GitHub gives it. */
export class RestError extends Error {
  override readonly name = "RestError"
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly errors: readonly unknown[] | null

  constructor(status: number, message: string, more: { headers?: Readonly<Record<string, string>>; errors?: readonly unknown[] } = {}) {
    super(message)
    this.status = status
    this.headers = more.headers ?? {}
    this.errors = more.errors ?? null
  }
}

/** The JSON body GitHub sends with an error. */
export function errorBody(error: RestError): Record<string, unknown> {
  return {
    message: error.message,
    ...(error.errors && { errors: error.errors }),
    documentation_url: "https://docs.github.com/rest",
    status: String(error.status),
  }
}

export const notFound = () => new RestError(404, "Not Found")
export const badCredentials = () => new RestError(401, "Bad credentials")
export const unprocessable = (message: string, errors?: readonly unknown[]) => new RestError(422, message, errors ? { errors } : {})
