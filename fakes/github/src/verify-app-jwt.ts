import { createVerify } from "node:crypto"
import { z } from "zod"
import { RestError } from "./rest-error.ts"
import type { App } from "./state.ts"

const MAX_LIFETIME_SECONDS = 600
/** GitHub forgives a clock that runs a little ahead. */
const CLOCK_SKEW_SECONDS = 60

const Header = z.object({ alg: z.literal("RS256") })
const Claims = z.object({ iat: z.unknown(), exp: z.unknown(), iss: z.union([z.string(), z.number()]) })

/**
 * Checks the token an App signs for itself: RS256 by the App's key, `iat` not in the future, `exp` in the future and
 * at most 10 minutes ahead, `iss` the App's id or client id. Throws RestError 401, for an unknown issuer 404.
 *
 * @param nowSeconds seconds since the epoch
 */
export function verifyAppJwt(token: string, app: App, nowSeconds: number): void {
  const [header = "", claims = "", signature = ""] = token.split(".")
  const parsed = Claims.safeParse(decode(claims))
  if (!Header.safeParse(decode(header)).success || !parsed.success || !signed(`${header}.${claims}`, signature, app)) {
    throw new RestError(401, "A JSON web token could not be decoded")
  }
  const { iat, exp, iss } = parsed.data
  if (typeof iat !== "number" || !Number.isInteger(iat) || iat > nowSeconds + CLOCK_SKEW_SECONDS) {
    throw new RestError(401, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
  }
  if (typeof exp !== "number" || exp <= nowSeconds) {
    throw new RestError(
      401,
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
    )
  }
  if (exp > nowSeconds + MAX_LIFETIME_SECONDS) throw new RestError(401, "'Expiration time' claim ('exp') is too far in the future")
  if (String(iss) !== String(app.id) && iss !== app.clientId) throw new RestError(404, "Integration not found")
}

function signed(content: string, signature: string, app: App): boolean {
  return createVerify("RSA-SHA256").update(content).verify(app.publicKey, Buffer.from(signature, "base64url"))
}

/** The decoded part, or undefined when it is not JSON: the schema refuses that. */
function decode(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, "base64url").toString())
  } catch {
    return undefined
  }
}
