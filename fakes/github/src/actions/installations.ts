import { z } from "zod"
import type { Context } from "../context.ts"
import { emitInstallation } from "../payloads/installation-payload.ts"
import { notFound } from "../rest-error.ts"
import { type Account, accountOf, type Installation, nextId, timestamp } from "../state.ts"

export const PermissionsInput = z.record(z.string(), z.enum(["read", "write", "admin"]))

export const RegisterInstallation = z.strictObject({
  id: z.int().positive().optional(),
  /** Login of the account it is installed on. */
  account: z.string().min(1),
  accountType: z.enum(["User", "Organization"]).default("Organization"),
  /** Left out: what the App asks for. */
  permissions: PermissionsInput.optional(),
})
export type RegisterInstallation = z.input<typeof RegisterInstallation>

/** Makes an installation without telling the App. */
export function createInstallation(context: Context, input: RegisterInstallation): Installation {
  const { id, account, accountType, permissions } = RegisterInstallation.parse(input)
  const { state } = context
  const now = timestamp(context.now())
  const installation: Installation = {
    id: id ?? nextId(state),
    account: accountOf(state, account, accountType),
    permissions: permissions ?? state.app.permissions,
    repositoryIds: new Set(),
    suspendedAt: null,
    createdAt: now,
    updatedAt: now,
  }
  state.installations.set(installation.id, installation)
  return installation
}

/** Installs the App on an account; sends `installation.created`. */
export async function registerInstallation(context: Context, input: RegisterInstallation): Promise<Installation> {
  const installation = createInstallation(context, input)
  await emitInstallation(context, "created", installation)
  return installation
}

/** Installs the App on every repository of an account at once; sends `installation.created`. */
export async function installOn(context: Context, account: Account): Promise<Installation> {
  const accountType = account.type === "User" ? account.type : "Organization"
  const installation = createInstallation(context, { account: account.login, accountType })
  for (const repository of context.state.repositories.values()) {
    if (repository.owner === account) installation.repositoryIds.add(repository.id)
  }
  await emitInstallation(context, "created", installation)
  return installation
}

/** Suspends an installation or wakes it again; sends `installation.suspend` or `installation.unsuspend`. */
export async function suspendInstallation(context: Context, id: number, suspended: boolean): Promise<void> {
  const installation = existing(context, id)
  installation.updatedAt = timestamp(context.now())
  installation.suspendedAt = suspended ? installation.updatedAt : null
  await emitInstallation(context, suspended ? "suspend" : "unsuspend", installation)
}

/** Removes an installation and its tokens; sends `installation.deleted`. */
export async function deleteInstallation(context: Context, id: number): Promise<void> {
  const installation = existing(context, id)
  context.state.installations.delete(id)
  for (const [token, { installationId }] of context.state.installationTokens) {
    if (installationId === id) context.state.installationTokens.delete(token)
  }
  await emitInstallation(context, "deleted", installation)
}

/** Every token handed out so far ends now. */
export function expireTokens(context: Context): void {
  for (const token of context.state.installationTokens.values()) token.expiresAtMs = Math.min(token.expiresAtMs, context.now())
}

function existing(context: Context, id: number): Installation {
  const installation = context.state.installations.get(id)
  if (!installation) throw notFound()
  return installation
}
