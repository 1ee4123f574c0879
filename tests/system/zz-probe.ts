import { startPrewarmed } from "@galley/engine/prewarmed"
import { runEngine } from "@galley/engine/run-engine"
import { startEngineRig } from "./engine-rig.ts"

const rig = await startEngineRig()
const [, , kind = "dynamic", mode = "none", times = "1", warm = ""] = process.argv
for (let i = 0; i < Number(times); i++) {
  const job = await rig.prepareJob({ kind: kind as "diff" })
  if (mode !== "none") rig.model.setMode({ name: mode as "hang" })
  const pre = warm ? await startPrewarmed(rig.slot, "enforced", rig.prefix) : null
  if (pre) await new Promise((r) => setTimeout(r, 12000))
  const t = performance.now()
  try {
    const r = await runEngine(job, AbortSignal.timeout(100000), pre)
    console.log("ok", r.findings.length, r.examinedPaths.join())
  } catch (e: any) {
    console.log(e.code, e.message, JSON.stringify(e.details), e.cause)
  }
  console.log("ms", (performance.now() - t) | 0, job.gateway.verdict(), job.gateway.finishReasons())
  await job.close()
}
await rig.close()
