import { GalleyError } from "@galley/contract/errors"
import { LAST_STORABLE_MS, StorableText } from "@galley/contract/storable-text"
import { z } from "zod"
import { isBot, type PullRequest, PullRequestJson, PullRequestNumber, pullRequestOf, Time } from "./pull-request.ts"

/*
 * Only the fields that are used. Payloads of GitHub Enterprise Server, of other versions and of repository webhooks lack many of the others,
 * so a strict schema would refuse real traffic. What is stored must be storable: otherwise a delivery would be sent again for ever.
 */
const Id = z.int().positive()
const Account = z.object({ login: StorableText, id: Id, type: z.string().default("User") })
const Repository = z.object({
  id: Id,
  name: StorableText,
  full_name: StorableText,
  private: z.boolean(),
  archived: z.boolean().default(false),
  owner: z.object({ login: StorableText }),
})
const ListedRepository = z.object({ id: Id, name: StorableText, full_name: StorableText, private: z.boolean() })
const Installation = z.object({ id: Id }).optional()

const PullRequestPayload = z.object({
  action: StorableText,
  installation: Installation,
  repository: Repository,
  changes: z.object({ base: z.unknown() }).partial().optional(),
  pull_request: PullRequestJson,
})

const CommentPayload = z.object({
  action: StorableText,
  installation: Installation,
  repository: Repository,
  issue: z.object({ number: PullRequestNumber, state: z.enum(["open", "closed"]), pull_request: z.unknown().optional() }),
  comment: z.object({ id: Id, body: z.string(), author_association: z.string(), user: Account.nullable() }),
})

/** Written as seconds by some versions, as ISO text by others. */
const InstallationTime = z
  .union([
    z
      .int()
      .positive()
      .max(LAST_STORABLE_MS / 1_000)
      .transform((seconds) => seconds * 1_000),
    Time,
  ])
  .transform((time) => new Date(time))

const InstallationPayload = z.object({
  action: StorableText,
  installation: z.object({
    id: Id,
    account: z.object({ login: StorableText, id: Id }),
    permissions: z.record(StorableText, StorableText).default({}),
    updated_at: InstallationTime.nullish(),
    suspended_at: z.unknown().optional(),
  }),
  repositories: z.array(ListedRepository).default([]),
})

const InstallationRepositoriesPayload = z.object({
  action: StorableText,
  installation: z.object({ id: Id, account: z.object({ login: StorableText, id: Id }) }),
  repositories_added: z.array(ListedRepository),
  repositories_removed: z.array(z.object({ id: Id })),
})

const RepositoryPayload = z.object({ action: StorableText, installation: Installation, repository: Repository })

const OtherPayload = z.object({ action: StorableText.optional(), installation: Installation, repository: z.object({ id: Id }).optional() })

export type WebhookRepository = Readonly<{ id: number; owner: string; name: string; private: boolean }>
/** One delivery, reduced to what decisions need. `installationId` is null for repository webhooks, which carry none. */
export type WebhookEvent = Readonly<
  { action: string; installationId: number | null; repository: WebhookRepository | null } & (
    | { type: "pull_request"; repository: WebhookRepository; pullRequest: PullRequest; baseChanged: boolean }
    | {
        type: "comment"
        repository: WebhookRepository
        onPullRequest: boolean
        number: number
        open: boolean
        commentId: number
        body: string
        authorAssociation: string
        authorIsBot: boolean
        author: string
      }
    | {
        type: "installation"
        installationId: number
        account: string
        accountId: number
        repositories: readonly WebhookRepository[]
        permissions: Record<string, string>
        suspended: boolean
        /** GitHub's time of the installation's last change: orders deliveries that arrive out of order. Null when it is not told. */
        changedAt: Date | null
      }
    | {
        type: "installation_repositories"
        installationId: number
        account: string
        accountId: number
        added: readonly WebhookRepository[]
        removed: readonly number[]
      }
    | { type: "repository"; repository: WebhookRepository; archived: boolean }
    | { type: "other"; name: string }
  )
>

/** One kind of delivery. */
export type EventOf<T extends WebhookEvent["type"]> = Extract<WebhookEvent, { type: T }>

const repositoryOf = (raw: z.infer<typeof Repository>): WebhookRepository => ({
  id: raw.id,
  owner: raw.owner.login,
  name: raw.name,
  private: raw.private,
})

/** Entries of installation payloads carry no owner object: it is the part of `full_name` before the slash. */
const listedRepository = (raw: z.infer<typeof ListedRepository>): WebhookRepository => ({
  id: raw.id,
  owner: raw.full_name.slice(0, raw.full_name.indexOf("/")),
  name: raw.name,
  private: raw.private,
})

function pullRequestEvent(payload: z.infer<typeof PullRequestPayload>): WebhookEvent {
  return {
    type: "pull_request",
    action: payload.action,
    installationId: payload.installation?.id ?? null,
    repository: repositoryOf(payload.repository),
    baseChanged: payload.action === "edited" && payload.changes?.base !== undefined,
    pullRequest: pullRequestOf(payload.pull_request),
  }
}

function commentEvent(payload: z.infer<typeof CommentPayload>): WebhookEvent {
  return {
    type: "comment",
    action: payload.action,
    installationId: payload.installation?.id ?? null,
    repository: repositoryOf(payload.repository),
    // The only sign that an issue is a pull request.
    onPullRequest: payload.issue.pull_request !== undefined && payload.issue.pull_request !== null,
    number: payload.issue.number,
    open: payload.issue.state === "open",
    commentId: payload.comment.id,
    body: payload.comment.body,
    authorAssociation: payload.comment.author_association,
    authorIsBot: isBot(payload.comment.user),
    author: payload.comment.user?.login ?? "ghost",
  }
}

function installationEvent(payload: z.infer<typeof InstallationPayload>): WebhookEvent {
  return {
    type: "installation",
    action: payload.action,
    installationId: payload.installation.id,
    repository: null,
    account: payload.installation.account.login,
    accountId: payload.installation.account.id,
    permissions: payload.installation.permissions,
    suspended: payload.installation.suspended_at !== null && payload.installation.suspended_at !== undefined,
    changedAt: payload.installation.updated_at ?? null,
    repositories: payload.repositories.map(listedRepository),
  }
}

function installationRepositoriesEvent(payload: z.infer<typeof InstallationRepositoriesPayload>): WebhookEvent {
  return {
    type: "installation_repositories",
    action: payload.action,
    installationId: payload.installation.id,
    repository: null,
    account: payload.installation.account.login,
    accountId: payload.installation.account.id,
    added: payload.repositories_added.map(listedRepository),
    removed: payload.repositories_removed.map((repository) => repository.id),
  }
}

/**
 * Reads one verified delivery.
 *
 * @param name the `X-GitHub-Event` header
 * @param payload the parsed JSON body
 * @throws `webhook_payload_invalid` when a field that is used is missing or wrong; events the product does not use are never refused
 */
export function parseWebhookEvent(name: string, payload: unknown): WebhookEvent {
  const read = <T extends z.ZodType>(schema: T): z.infer<T> => {
    const parsed = schema.safeParse(payload)
    if (parsed.success) return parsed.data
    const issue = parsed.error.issues[0]
    throw new GalleyError("webhook_payload_invalid", `${name}: ${issue?.path.join(".") || "body"}: ${issue?.message ?? "unreadable"}`)
  }
  switch (name) {
    case "pull_request":
      return pullRequestEvent(read(PullRequestPayload))
    case "issue_comment":
      return commentEvent(read(CommentPayload))
    case "installation":
      return installationEvent(read(InstallationPayload))
    case "installation_repositories":
      return installationRepositoriesEvent(read(InstallationRepositoriesPayload))
    case "repository": {
      const raw = read(RepositoryPayload)
      return {
        type: "repository",
        action: raw.action,
        installationId: raw.installation?.id ?? null,
        repository: repositoryOf(raw.repository),
        archived: raw.repository.archived,
      }
    }
    default: {
      const raw = read(OtherPayload)
      return { type: "other", name, action: raw.action ?? "", installationId: raw.installation?.id ?? null, repository: null }
    }
  }
}
