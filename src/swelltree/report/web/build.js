// Bundles the viewer: `npm ci && npm run build`. The two files it writes are part of the repository.
import { readFileSync } from "node:fs";
import { build } from "esbuild";

const out = process.argv[2] ?? ".";
const common = { bundle: true, minify: true, legalComments: "none", logLevel: "warning" };
await build({
  ...common,
  entryPoints: ["source/main.js"],
  outfile: `${out}/viewer.min.js`,
  format: "iife",
  target: ["es2020"],
  charset: "utf8",
  // every report is a copy of these works, so it carries their notices
  banner: {
    js: `/*! swelltree viewer, Apache-2.0. It contains:\n${readFileSync("LICENSES.txt", "utf8")}*/`,
  },
});
await build({ ...common, entryPoints: ["source/style.css"], outfile: `${out}/viewer.min.css` });
