/** Splits a byte stream at NUL; each record is given with one byte per character. An unfinished last record is dropped. */
export async function* splitRecords(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
  let rest = ""
  for await (const chunk of chunks) {
    const records = (rest + chunk.toString("latin1")).split("\0")
    rest = records.pop() ?? ""
    yield records
  }
}
