// One file for pages: what the collector serves to participants. `--check` fails if the committed one is another.
import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const target = new URL("../../src/discreet/service/static/discreet-client.js", import.meta.url);
const { outputFiles } = await build({
  entryPoints: [new URL("src/index.ts", import.meta.url).pathname],
  bundle: true,
  format: "esm",
  target: "es2020",
  minify: true,
  legalComments: "none",
  banner: { js: "// discreet-client, built from clients/js by `npm run bundle`. Apache-2.0." },
  write: false,
});
const made = outputFiles[0].text;
if (process.argv.includes("--check")) {
  const kept = await readFile(target, "utf8").catch(() => "");
  if (kept !== made) {
    console.error("src/discreet/service/static/discreet-client.js is not what clients/js builds: run `npm run bundle`");
    process.exit(1);
  }
} else {
  await writeFile(target, made);
  console.log(`${made.length} bytes`);
}
