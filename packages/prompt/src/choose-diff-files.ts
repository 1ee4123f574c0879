/** One file's part of the diff, as it would stand in the prompt. */
export type DiffFile = Readonly<{ path: string; text: string }>

/** What a path is for, in the order in which a reviewer would give files up, last first. */
const classes = ["source", "tests", "docs", "generated"] as const
export type PathClass = (typeof classes)[number]

const generatedFolder = /(?:^|\/)(?:vendor|vendored|third_party|node_modules|dist|generated|__generated__|__snapshots__)\//i
const generatedName =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum|bun\.lockb)$|\.(?:lock|lock\.hcl|map|snap|min\.\w+|pb\.\w+|g\.\w+|designer\.cs)$|_pb2(?:_grpc)?\.pyi?$|[._-]generated\.\w+$/i
const testPath = /(?:^|\/)(?:tests?|__tests__|specs?|testdata|fixtures|e2e)\/|(?:^|\/)test_[^/]*$|[._-](?:test|tests|spec)\.\w+$/i
const docPath = /(?:^|\/)docs?\/|\.(?:md|mdx|rst|adoc)$|(?:^|\/)(?:license|licence|notice|authors|changelog)[^/]*$/i

/** Sorts a path by its name alone: a file's content is untrusted and gets no say. */
export function pathClass(path: string): PathClass {
  if (generatedFolder.test(path) || generatedName.test(path)) return "generated"
  if (testPath.test(path)) return "tests"
  return docPath.test(path) ? "docs" : "source"
}

/**
 * Bytes counted as one token. Measured with the tokenizers o200k and cl100k: source 3.5 to 4.2, prose (Latin, Cyrillic, Chinese, Japanese)
 * 3.0 or more, JSON 2.9, lock files 2.2, random hex 1.8, random base64 1.4. So 2.5 is on the safe side for what people review, and wrong by
 * less than two for hashes, which come last. A byte-level tokenizer never makes more than one token of a byte, but cutting by that proven
 * bound would give away two thirds of the window; it is the gateway that counts for real.
 */
const BYTES_PER_TOKEN = 2.5

/** Tokens that `text` will hardly exceed: an estimate to cut by, not a bound. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
}

/**
 * Keeps the files whose text fits `tokenBudget`, whole files only: source before tests before docs before generated, small before large
 * within a class (so that one huge file does not push out all others). A file that does not fit is skipped, not the end of the search.
 *
 * @returns `kept` in the given order, and `leftOut` in the order of importance
 */
export function chooseDiffFiles(files: readonly DiffFile[], tokenBudget: number): { kept: DiffFile[]; leftOut: DiffFile[] } {
  const ranked = files
    .map((file) => ({ file, rank: classes.indexOf(pathClass(file.path)), tokens: estimateTokens(`${file.text}\n`) }))
    .sort((a, b) => a.rank - b.rank || a.tokens - b.tokens || (a.file.path < b.file.path ? -1 : 1))
  const kept = new Set<DiffFile>()
  let room = tokenBudget
  for (const { file, tokens } of ranked) {
    if (tokens > room) continue
    kept.add(file)
    room -= tokens
  }
  return { kept: files.filter((file) => kept.has(file)), leftOut: ranked.map(({ file }) => file).filter((file) => !kept.has(file)) }
}
