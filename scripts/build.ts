/** Bundles every app to `dist/<app>.js`, each runnable on its own with Node 24. */
import { bundle } from "./bundle.ts"

for (const app of ["server", "runner"]) {
  const result = await bundle(`apps/${app}/src/main.ts`, `dist/${app}.js`)
  const bytes = Object.entries(result.metafile.outputs).find(([file]) => file.endsWith(".js"))?.[1].bytes ?? 0
  console.log(`dist/${app}.js ${Math.round(bytes / 1024)} KiB`)
}
