/**
 * What crosses a process boundary in Galley, and the words it is said in. One word per idea:
 *
 * | word | meaning |
 * |---|---|
 * | workspace | tenant: members, installations, projects, model credentials, runners, limits |
 * | project | one repository of an installation, with `settings` |
 * | review kind | `diff` (PR-Agent) or `dynamic` (OpenCode explores the checked-out head); exactly one per project |
 * | job | one wanted review of one pull request at one head; its kind is pinned when queued |
 * | lease | a runner's time-limited right to work on a job; has a secret token and a fence |
 * | fence | number that grows with every lease; of two reviews of a pull request the one with the smaller is never published over the other |
 * | fleet | all runners of an installation of Galley |
 * | runner | a name and a token by which processes lease jobs; of one workspace, or shared by all |
 * | ephemeral | of a runner: it ends after one job |
 * | overlap | the time for which a runner's old token works beside its new one |
 * | run | one attempt at a job: usage, outcome, trace |
 * | engine | what reviews: `diff` or `dynamic` |
 * | gateway | per-job loopback server, the only address an engine can reach: model proxy, and for PR-Agent a GitHub shim |
 * | finding | one defect: stable id, priority P0-P3, confidence, place, evidence; active or resolved |
 * | coverage | what a run examined; `complete` or `partial` with declared omissions |
 * | publication | writing the one summary comment |
 * | delivery | one webhook request of GitHub, known by its delivery id |
 * | tied | of two states of a pull request with the same second in `updated_at`: only GitHub can tell which is the later one |
 * | task | the server's own retried work, e.g. a publication; runners never touch it |
 * | omission | a path that was left out of the export or of the review, with its reason |
 * | boundary | what keeps engines apart: own OS user, egress rules, launch wrapper; `demo` has none |
 * | capability | a review kind that a runner has proved it can do, until the proof expires |
 * | proof | what showed a capability: engine version and boundary; dated by its age |
 * | prefix | the folder where the engines are installed |
 * | slot | one engine's fixed place on a runner: OS user, gateway port, control port |
 * | export | the sanitized read-only tree an engine may read |
 *
 * Each file of this package holds one part; import the part (`@galley/contract/finding`), not this page.
 */
export {}
