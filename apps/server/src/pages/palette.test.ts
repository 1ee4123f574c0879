import { expect, test } from "vitest"
import { readAssetFiles } from "./assets/read-asset-files.ts"

const css = readAssetFiles()["pages.css"]

/** The custom properties of a `:root` block. */
function palette(block: string): ReadonlyMap<string, string> {
  return new Map([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name = "", value = ""]) => [name, value]))
}

const [light = "", dark = ""] = [...css.matchAll(/:root \{([^}]*)\}/g)].map(([, block = ""]) => block)
const schemes = [
  ["light", palette(light)],
  ["dark", palette(dark)],
] as const

/** WCAG 2 relative luminance of `#rrggbb`. */
function luminance(hex: string): number {
  const channels = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
  const [red = 0, green = 0, blue = 0] = channels.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(colors: ReadonlyMap<string, string>, front: string, back: string): number {
  const [high = 0, low = 0] = [front, back].map((name) => luminance(colors.get(name) ?? "#000000")).sort((a, b) => b - a)
  return (high + 0.05) / (low + 0.05)
}

const tones = ["neutral", "info", "good", "warn", "bad"]
const texts: [string, string][] = [
  ...["text", "muted", "link", "bad", "warn"].flatMap((front): [string, string][] => [
    [front, "page"],
    [front, "surface"],
  ]),
  ...tones.flatMap((tone): [string, string][] => [
    [tone, `${tone}-soft`],
    ["text", `${tone}-soft`],
  ]),
  ["on-accent", "accent"],
]

// R-PAGE-7
test.each(schemes)("reaches the contrast of WCAG AA for every text colour of the %s scheme", (_, colors) => {
  const weak = texts.filter(([front, back]) => contrast(colors, front, back) < 4.5)
  expect(weak).toEqual([])
})

// R-PAGE-7
test.each(schemes)("draws edges of controls, focus rings and bars visibly in the %s scheme", (_, colors) => {
  const lines: [string, string][] = ["page", "surface"].flatMap((back): [string, string][] => [
    ["edge", back],
    ["accent", back],
  ])
  expect(lines.filter(([front, back]) => contrast(colors, front, back) < 3)).toEqual([])
})

test.each(schemes)("defines every colour that the %s scheme uses", (_, colors) => {
  const used = new Set([...css.matchAll(/var\(--([\w-]+)\)/g)].map(([, name = ""]) => name))
  expect([...used].filter((name) => !colors.has(name))).toEqual([])
})
