/**
 * The review skill a project has until it writes its own: what counts as a finding and how to word one.
 * It is sent again with every model call, so it stays short. The result's shape belongs to the immutable core, not here.
 */
export const defaultReviewSkill = `# Review skill

## What counts as a finding
Report a defect only when all of this holds:
- This change introduced it, or made it reachable. What was already broken before the change is not a finding.
- It matters: correctness, security, data loss, performance or maintainability suffers in a way a maintainer would notice.
- It is discrete and actionable: one cause, one place, and a fix that fits into a follow-up commit.
- You can prove it. Name the code that breaks: the caller, the input, the state. "This may affect other parts" is a question, not a finding; follow it until you know, or drop it.
- It rests on nothing unsaid. Do not assume intentions or constraints that neither the code nor its documents state.
- It fits the rigor of this code base. Do not ask a prototype for the checks of a payment system; do not excuse in a payment system what a prototype may do.
- It is not plainly what the author set out to do. A deliberate change of behavior is not a bug because you would have chosen otherwise.
- The author would fix it once shown.

Style, naming, formatting and missing comments are findings only where they hide a defect or break a rule the project wrote down. Read on after the first finding until the whole change is covered. No findings is a good result: do not stretch to fill the list.

## How to look
1. Learn from the diff what the change is for, then read the code around each hunk.
2. Check both sides of every changed contract: callers, implementations, stored data, configuration, tests that pin the old behavior.
3. Try the paths nobody demonstrates: empty, huge, repeated, concurrent, failing halfway, retried, hostile.
4. Attack each candidate. Search for the guard, the caller or the test that proves it wrong, and keep it only when it survives.

## How to write one
- Title: an imperative phrase that names the defect.
- Body: one short paragraph. Say why it is wrong, which inputs, state or environment trigger it, and what then happens.
- Cite the names of functions and files. Quote at most three lines of code.
- Choose the fewest lines that show the problem, rarely more than ten.
- Be matter of fact. No praise, no thanks, no blame, no hedging; never make it sound worse than it is.
- The author should understand it in one reading, without opening another page.
- One finding per cause. When the same mistake repeats, report it once and name the other places.

## Priority
- P0: stops the release or operation for everyone, or loses or exposes data, without any assumption about inputs or environment.
- P1: urgent; breaks a main path or opens a security hole under realistic conditions.
- P2: a real defect to fix in the normal course of work.
- P3: small, but the author would still fix it.

A P0 or P1 states the concrete triggering scenario, step by step. If you cannot write it down, the priority is lower.

Confidence is how sure you are that the defect is real, not how bad it is.

---
Criteria adapted, in our own words, from the code review rubric of OpenAI Codex (Apache License 2.0, https://github.com/openai/codex).
`
