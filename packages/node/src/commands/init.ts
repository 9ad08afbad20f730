/** `uniknode init`: creates a small project that receives webhooks, with a test on a dev chain. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { ConfigError } from "../platform/config-error.ts";
import { makeFolder } from "../platform/files/folder.ts";
import { programVersion } from "../platform/lifecycle/version.ts";

const TEMPLATE = fileURLToPath(new URL("../../templates/receiver", import.meta.url));

export const initCommand = (): Command =>
  new Command("init")
    .description("create a small project that receives webhooks, with a test on a dev chain")
    .argument("<folder>", "a new or empty folder")
    .option("--packages <folder>", "folder with the packages of a release, which the project then installs")
    .action((folder: string, { packages }: { packages?: string }) => {
      createProject(resolve(folder), packages === undefined ? undefined : resolve(packages));
      process.stdout.write(nextSteps(folder, packages !== undefined));
    });

/** Text that says how to install and test the new project. */
const nextSteps = (folder: string, hasPackages: boolean): string =>
  `Created ${folder}: a webhook receiver, with a test that runs on a dev chain.

  cd ${folder}
${hasPackages ? "  npm install" : "  npm install RELEASE/uniknode*.tgz"}
  npm test
${hasPackages ? "" : "\nRELEASE is the folder with the packages of a release; in a clone, npm run release -- packages writes them.\n"}
README.md there describes what else to try.
`;

/**
 * Writes the project into a folder, which is made when missing.
 *
 * @param packages folder with the packed files of this version; without it, the project names only their version
 * @throws {ConfigError} when the folder has content, is not a folder, or cannot be made, or a packed file is missing
 */
export function createProject(folder: string, packages?: string): void {
  const dependencies = packages === undefined ? byVersion() : packed(packages);
  makeFolder(folder, { what: "the project folder", flag: "uniknode init FOLDER" });
  if (readdirSync(folder).length > 0) {
    throw new ConfigError(
      `the project folder ${folder} is not empty; choose another with uniknode init FOLDER`,
    );
  }
  for (const entry of readdirSync(TEMPLATE, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name).slice(TEMPLATE.length);
    // npm takes a file of its real name for a list of what not to pack.
    const target = join(folder, path.replace(/\/gitignore$/, "/.gitignore"));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(TEMPLATE, path), target);
  }
  writeFileSync(
    join(folder, "package.json"),
    `${JSON.stringify(manifest(basename(folder), dependencies), null, 2)}\n`,
  );
}

/** Version or file of each package, by its name. */
type Dependencies = {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};

/** Dependencies by version, which `npm install` of the packed files satisfies. */
function byVersion(): Dependencies {
  const version = programVersion();
  return {
    dependencies: { "@uniknode/client": version, "@uniknode/protocol": version },
    devDependencies: { uniknode: version },
  };
}

function packed(folder: string): Dependencies {
  const at = (name: string): string => {
    const file = join(folder, `${name}-${programVersion()}.tgz`);
    if (!existsSync(file)) throw new ConfigError(`--packages: ${file} is missing: npm run release writes it`);
    return `file:${file}`;
  };
  return {
    dependencies: {
      "@uniknode/client": at("uniknode-client"),
      "@uniknode/protocol": at("uniknode-protocol"),
    },
    // The ledger is what the program depends on itself.
    devDependencies: { "@uniknode/ledger": at("uniknode-ledger"), uniknode: at("uniknode") },
  };
}

function manifest(folderName: string, dependencies: Dependencies): object {
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
    ...dependencies,
  };
}

/** What npm accepts as a name: `My App` becomes `my-app`. */
const packageName = (folderName: string): string =>
  folderName
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "")
    .replace(/-+$/, "") || "receiver";
