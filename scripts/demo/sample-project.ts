import type { FakeGitHub } from "@galley/fake-github"
import type { SampleChange } from "./sample-repository.ts"

/** Where a change stands on the fake GitHub. */
export const sampleProject = { owner: "sample", name: "checkout", repo: "sample/checkout", installationId: 7001 } as const

/** Gives the App the repository of a change, and waits until its webhooks are sent. */
export async function registerSample(github: FakeGitHub, { gitDirectory }: SampleChange): Promise<void> {
  const { owner, name, installationId } = sampleProject
  await github.registerRepository({ owner, name, gitDirectory, installationId, private: true })
  await github.idle()
}

/** Opens the change as a pull request, and waits until its webhook is sent. */
export async function openSample(github: FakeGitHub, change: SampleChange, number: number): Promise<void> {
  const { baseSha, headSha, title, description } = change
  const { repo } = sampleProject
  await github.openPullRequest({ repo, number, baseSha, headRef: `change-${number}`, headSha, title, body: description })
  await github.idle()
}
