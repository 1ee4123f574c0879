import { readTree } from "./read-tree.ts"

/** Languages by file ending; a small part of GitHub's own list. */
const languages: Readonly<Record<string, string>> = {
  c: "C",
  cc: "C++",
  cpp: "C++",
  cs: "C#",
  css: "CSS",
  go: "Go",
  html: "HTML",
  java: "Java",
  js: "JavaScript",
  jsx: "JavaScript",
  kt: "Kotlin",
  mjs: "JavaScript",
  php: "PHP",
  py: "Python",
  rb: "Ruby",
  rs: "Rust",
  sh: "Shell",
  sql: "SQL",
  swift: "Swift",
  ts: "TypeScript",
  tsx: "TypeScript",
}

/** Bytes of each language in a tree, largest first. */
export async function languageBytes(directory: string, treeish: string): Promise<Record<string, number>> {
  const bytes: Record<string, number> = {}
  for (const { path, size } of await readTree(directory, treeish, "", true)) {
    const language = languages[path.slice(path.lastIndexOf(".") + 1).toLowerCase()]
    if (language && size) bytes[language] = (bytes[language] ?? 0) + size
  }
  return Object.fromEntries(Object.entries(bytes).sort(([, a], [, b]) => b - a))
}
