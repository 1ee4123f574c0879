import { readFile } from "node:fs/promises"
import { parseArgs } from "node:util"
import { startFakeModel } from "./fake-model.ts"
import { modes, parseMode } from "./modes.ts"
import { Steps } from "./step.ts"

const help = `A scripted OpenAI-compatible model on 127.0.0.1. Without a script it reviews any change: one clearly marked finding.

  --port <number>      port, default 4010; 0 = any free one
  --api-key <key>      the only accepted key; default: any
  --script <file>      JSON list of steps { say | calls: [{ name, args }] | mode: { name, n? }, delayMs? }, one per call;
                       afterwards the default script goes on
  --mode <name[:n]>    misbehave in every answer; while running: POST /_fake/mode { "mode": { "name": "stall" } | null, "times": 1 }
  --help               this text

Modes:
${Object.entries(modes)
  .map(([name, does]) => `  ${name.padEnd(22)} ${does}`)
  .join("\n")}
`

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "4010" },
    "api-key": { type: "string" },
    script: { type: "string" },
    mode: { type: "string" },
    help: { type: "boolean", default: false },
  },
})

if (values.help) console.log(help)
else {
  const fake = await startFakeModel({
    port: Number(values.port),
    log: (line) => console.log(line),
    ...(values["api-key"] === undefined ? {} : { apiKey: values["api-key"] }),
    ...(values.script === undefined ? {} : { script: Steps.parse(JSON.parse(await readFile(values.script, "utf8"))) }),
    ...(values.mode === undefined ? {} : { mode: parseMode(values.mode) }),
  })
  console.log(`scripted model: ${fake.url}`)
  const stop = () => void fake.close()
  process.once("SIGINT", stop)
  process.once("SIGTERM", stop)
}
