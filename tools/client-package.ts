/**
 * `npm run client-package -- [FOLDER]`: packages/client as a package for other projects, plain JavaScript with types, in a
 * file for `npm install`. In this repository it is run from its sources.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = join(root, "packages/client");

/** Writes the file into a folder, which is made when missing; the answer is its path. */
export function packClient(folder: string): string {
  const made = mkdtempSync(join(tmpdir(), "uniknode-client-"));
  try {
    const compiler = join(root, "node_modules/.bin/tsc");
    const project = join(source, "tsconfig.build.json");
    execFileSync(compiler, ["--project", project, "--outDir", join(made, "dist")], { stdio: "inherit" });
    writeFileSync(join(made, "package.json"), JSON.stringify(manifest(), null, 2));
    copyFileSync(join(source, "README.md"), join(made, "README.md"));
    mkdirSync(folder, { recursive: true });
    const args = ["pack", "--json", "--loglevel=error", "--pack-destination", folder];
    const [{ filename }] = JSON.parse(execFileSync("npm", args, { cwd: made, encoding: "utf8" })) as [
      { filename: string },
    ];
    return join(folder, filename);
  } finally {
    rmSync(made, { recursive: true });
  }
}

function manifest(): object {
  const { name, version, description } = JSON.parse(
    readFileSync(join(source, "package.json"), "utf8"),
  ) as Record<string, string>;
  return {
    name,
    version,
    description,
    type: "module",
    // The first one with everything that is used: fetch, Web Crypto, AbortSignal.any.
    engines: { node: ">=20.3" },
    exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
    files: ["dist"],
    sideEffects: false,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(`${packClient(process.argv[2] ?? process.cwd())}\n`);
}
