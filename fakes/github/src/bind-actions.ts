import { deleteComment, editComment, type WriteComment, writeComment } from "./actions/comments.ts"
import {
  deleteInstallation,
  expireTokens,
  type RegisterInstallation,
  registerInstallation,
  suspendInstallation,
} from "./actions/installations.ts"
import {
  closePullRequest,
  type EditPullRequest,
  editPullRequest,
  existingPullRequest,
  lockPullRequest,
  type OpenPullRequest,
  openPullRequest,
  type PullRequestName,
  pushHead,
  reopenPullRequest,
  setDraft,
} from "./actions/pull-requests.ts"
import { type RegisterRepository, registerRepository, removeRepository, renameRepository } from "./actions/repositories.ts"
import type { Context } from "./context.ts"
import type { Fault } from "./fault.ts"
import type { RequestRecord } from "./request-log.ts"
import {
  type Account,
  accountOf,
  type Comment,
  type Delivery,
  type Installation,
  type PullRequest,
  type Repository,
  type WebhookTarget,
} from "./state.ts"
import { commentsOf } from "./views/comment-view.ts"
import type { DropRule } from "./webhook-outbox.ts"

/**
 * What people and operators do on this GitHub. Each action ends after its webhook was answered or given up; the
 * attempt is in `deliveries()`.
 */
export type Actions = Readonly<{
  registerInstallation(input: RegisterInstallation): Promise<Installation>
  suspendInstallation(id: number, suspended: boolean): Promise<void>
  deleteInstallation(id: number): Promise<void>
  registerRepository(input: RegisterRepository): Promise<Repository>
  removeRepository(repo: string): Promise<void>
  renameRepository(repo: string, name: string): Promise<Repository>
  openPullRequest(input: OpenPullRequest): Promise<PullRequest>
  pushHead(name: PullRequestName, headSha: string): Promise<PullRequest>
  editPullRequest(name: PullRequestName, edit: EditPullRequest): Promise<PullRequest>
  closePullRequest(name: PullRequestName, merged?: boolean): Promise<PullRequest>
  reopenPullRequest(name: PullRequestName): Promise<PullRequest>
  setDraft(name: PullRequestName, draft: boolean): Promise<PullRequest>
  lockPullRequest(name: PullRequestName, locked: boolean): Promise<PullRequest>
  writeComment(input: WriteComment): Promise<Comment>
  editComment(id: number, body: string, editor: string): Promise<Comment>
  deleteComment(id: number, remover: string): Promise<void>
  /** Comments of a pull request, oldest first. */
  comments(name: PullRequestName): readonly Comment[]
  /** A person who can sign in. */
  registerUser(login: string): Account
  /** A token for a person, valid until the fake closes. */
  registerUserToken(login: string, token: string): void
  setWebhook(target: Partial<WebhookTarget>): void
  dropWebhooks(rule: Partial<DropRule>): void
  deliveries(): readonly Delivery[]
  /** Sends an attempt's event again, with the same delivery id. */
  redeliver(deliveryId: number): Promise<Delivery | null>
  expireTokens(): void
  addFault(fault: Fault): void
  clearFaults(): void
  requests(): readonly RequestRecord[]
  clearRequests(): void
}>

/** The actions on one running fake. */
export function bindActions(context: Context): Actions {
  const { state, outbox, faults, requests } = context
  return {
    registerInstallation: (input) => registerInstallation(context, input),
    suspendInstallation: (id, suspended) => suspendInstallation(context, id, suspended),
    deleteInstallation: (id) => deleteInstallation(context, id),
    registerRepository: (input) => registerRepository(context, input),
    removeRepository: (repo) => removeRepository(context, repo),
    renameRepository: (repo, name) => renameRepository(context, repo, name),
    openPullRequest: (input) => openPullRequest(context, input),
    pushHead: (name, headSha) => pushHead(context, name, headSha),
    editPullRequest: (name, edit) => editPullRequest(context, name, edit),
    closePullRequest: (name, merged) => closePullRequest(context, name, merged),
    reopenPullRequest: (name) => reopenPullRequest(context, name),
    setDraft: (name, draft) => setDraft(context, name, draft),
    lockPullRequest: (name, locked) => lockPullRequest(context, name, locked),
    writeComment: (input) => writeComment(context, input),
    editComment: (id, body, editor) => editComment(context, id, body, editor),
    deleteComment: (id, remover) => deleteComment(context, id, remover),
    comments: (name) => commentsOf(state, existingPullRequest(context, name)),
    registerUser: (login) => accountOf(state, login),
    registerUserToken(login, token) {
      state.userTokens.set(token, { token, account: accountOf(state, login), expiresAtMs: Number.POSITIVE_INFINITY })
    },
    setWebhook: (target) => void Object.assign(state.webhook, target),
    dropWebhooks: ({ event = null, times = 1, listed = true }) => outbox.drop({ event, times, listed }),
    deliveries: () => [...state.deliveries],
    async redeliver(deliveryId) {
      const delivery = state.deliveries.find((candidate) => candidate.id === deliveryId)
      return delivery ? await outbox.redeliver(delivery) : null
    },
    expireTokens: () => expireTokens(context),
    addFault: (fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    requests: () => requests.list(),
    clearRequests: () => requests.clear(),
  }
}
