import { z } from "zod"
import type { Context } from "../context.ts"
import { createMirror, readDefaultBranch } from "../git/mirror.ts"
import { emitRepositoryEvent } from "../payloads/event-payload.ts"
import { emitInstallation, emitInstallationRepositories } from "../payloads/installation-payload.ts"
import { notFound, unprocessable } from "../rest-error.ts"
import { accountOf, findRepository, fullNameOf, installationOf, nextId, type Repository, timestamp } from "../state.ts"
import { createInstallation } from "./installations.ts"

const Name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/)

export const RegisterRepository = z.strictObject({
  owner: Name,
  ownerType: z.enum(["User", "Organization"]).default("Organization"),
  name: Name,
  id: z.int().positive().optional(),
  /** A bare repository, `.git` directory or work tree on disk. It is only read. Null: no git, and every commit id is believed. */
  gitDirectory: z.string().min(1).nullable(),
  private: z.boolean().default(true),
  /** Left out: the branch HEAD names on disk. */
  defaultBranch: z.string().min(1).optional(),
  /** Left out or null: the App is not installed here. An unknown id is installed on the owner's account. */
  installationId: z.int().positive().nullable().default(null),
  /** Login to role. The owner is always the owner. */
  collaborators: z.record(z.string(), z.enum(["read", "write", "admin"])).default({}),
})
export type RegisterRepository = z.input<typeof RegisterRepository>

/** Takes over a repository; sends `installation.created` for a new installation, else `installation_repositories.added`. */
export async function registerRepository(context: Context, input: RegisterRepository): Promise<Repository> {
  const { owner, ownerType, name, gitDirectory, installationId, collaborators, ...given } = RegisterRepository.parse(input)
  const { state } = context
  if (findRepository(state, `${owner}/${name}`)) throw unprocessable("name already exists on this account")
  const id = given.id ?? nextId(state)
  const mirrorDirectory = gitDirectory === null ? null : await createMirror(context.mirrorsRoot, id, gitDirectory)
  const repository = createRepository(context, { id, owner: accountOf(state, owner, ownerType), name, mirrorDirectory })
  repository.private = given.private
  const branchOnDisk = mirrorDirectory === null ? repository.defaultBranch : await readDefaultBranch(mirrorDirectory)
  repository.defaultBranch = given.defaultBranch ?? branchOnDisk
  for (const [login, role] of Object.entries(collaborators)) {
    repository.collaborators.set(accountOf(state, login).login.toLowerCase(), role)
  }
  state.repositories.set(id, repository)
  if (installationId !== null) await grantRepository(context, repository, installationId)
  return repository
}

async function grantRepository(context: Context, repository: Repository, installationId: number): Promise<void> {
  const known = context.state.installations.get(installationId)
  const { login, type } = repository.owner
  const accountType = type === "User" ? type : "Organization"
  const installation = known ?? createInstallation(context, { id: installationId, account: login, accountType })
  installation.repositoryIds.add(repository.id)
  await (known
    ? emitInstallationRepositories(context, "added", installation, repository)
    : emitInstallation(context, "created", installation))
}

/** A repository without pull requests, not yet known to the state. */
export function createRepository(
  context: Context,
  given: Pick<Repository, "id" | "owner" | "name" | "mirrorDirectory"> & { fork?: boolean },
): Repository {
  const now = timestamp(context.now())
  return {
    fork: false,
    private: false,
    description: null,
    defaultBranch: "main",
    collaborators: new Map(),
    pullRequests: new Map(),
    changes: new Map(),
    createdAt: now,
    pushedAt: now,
    ...given,
  }
}

/** Takes the repository out of its installation; sends `installation_repositories.removed`. */
export async function removeRepository(context: Context, fullName: string): Promise<void> {
  const repository = existingRepository(context, fullName)
  const installation = installationOf(context.state, repository)
  if (!installation) throw notFound()
  installation.repositoryIds.delete(repository.id)
  await emitInstallationRepositories(context, "removed", installation, repository)
}

/** Gives a repository another name; sends `repository.renamed`. The old name answers 404 (GitHub redirects it). */
export async function renameRepository(context: Context, fullName: string, name: string): Promise<Repository> {
  const repository = existingRepository(context, fullName)
  const from = repository.name
  repository.name = Name.parse(name)
  await emitRepositoryEvent(context, "repository", repository, repository.owner, {
    action: "renamed",
    changes: { repository: { name: { from } } },
  })
  return repository
}

/** The repository `owner/name`. Throws RestError 404. */
export function existingRepository(context: Context, fullName: string): Repository {
  const repository = findRepository(context.state, fullName)
  if (!repository) throw notFound()
  return repository
}

/** Directory of the mirror that serves the repository's objects. */
export function mirrorOf(repository: Repository): string {
  if (repository.mirrorDirectory === null) throw new Error(`${fullNameOf(repository)} has no git`)
  return repository.mirrorDirectory
}
