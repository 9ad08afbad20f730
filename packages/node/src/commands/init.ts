/** `uniknode init`: a small project that receives webhooks, with a test on a dev chain. */
import { copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { ConfigError } from "../platform/config-error.ts";
import { programVersion } from "../platform/lifecycle/version.ts";

const TEMPLATE = fileURLToPath(new URL("../../templates/receiver", import.meta.url));

const EXAMPLES = `
Example:
  npx uniknode init my-app

Exit codes: 0 created, 1 failed, 2 the folder is not empty or cannot be made.`;

export const initCommand = (): Command =>
  new Command("init")
    .description("create a small project that receives webhooks, with a test on a dev chain")
    .argument("<folder>", "a new or empty folder")
    .addHelpText("after", EXAMPLES)
    .action((folder: string) => {
      createProject(resolve(folder));
      process.stdout.write(`Created ${folder}: a receiver of webhooks, and its test on a dev chain.

  cd ${folder}
  npm install
  npm test

README.md there says what else to try.
`);
    });

/**
 * Writes the project into a folder, which is made when missing; its parent must be there.
 *
 * @throws {ConfigError} when the folder has content, is none, or cannot be made
 */
export function createProject(folder: string): void {
  claim(folder);
  for (const entry of readdirSync(TEMPLATE, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name).slice(TEMPLATE.length);
    // npm takes a file of its real name for a list of what not to pack.
    const target = join(folder, path.replace(/\/gitignore$/, "/.gitignore"));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(TEMPLATE, path), target);
  }
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest(basename(folder)), null, 2)}\n`);
}

function claim(folder: string): void {
  try {
    // Not with its parents: that never ends below /proc.
    mkdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EEXIST") {
      throw new ConfigError(`${folder} cannot be made (${code}): name one in a folder that you may write to`);
    }
  }
  if (!statSync(folder).isDirectory()) {
    throw new ConfigError(`${folder} is a file: name a new or empty folder`);
  }
  if (readdirSync(folder).length > 0) {
    throw new ConfigError(`${folder} is not empty: name a new or empty folder`);
  }
}

function manifest(folderName: string): object {
  const version = programVersion();
  return {
    name: packageName(folderName),
    version: "0.1.0",
    private: true,
    type: "module",
    engines: { node: ">=22.19.0" },
    scripts: {
      chain: "uniknode dev --webhook-token my-token",
      start: "node main.js",
      pay: "node pay.js",
      test: "node --test",
    },
    dependencies: { "@uniknode/client": version, "@uniknode/protocol": version },
    devDependencies: { uniknode: version },
  };
}

/** What npm accepts as a name: `My App` becomes `my-app`. */
const packageName = (folderName: string): string =>
  folderName
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "")
    .replace(/-+$/, "") || "receiver";
