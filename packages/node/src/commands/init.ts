/** `uniknode init`: creates a small project that receives webhooks, with a test on a dev chain. */
import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { ConfigError } from "../platform/coded-error.ts";
import { writeWholeFile } from "../platform/files/whole-file.ts";
import { programVersion } from "../platform/lifecycle/program.ts";
import { fillNewFolder } from "../store/engine/new-folder.ts";

const TEMPLATE = fileURLToPath(new URL("../../templates/receiver", import.meta.url));

export const initCommand = (): Command =>
  new Command("init")
    .argument("<folder>", "a new or empty folder")
    .option("--packages <DIR>", "Folder with release packages that the project installs.")
    .action(async (folder: string, { packages }: { packages?: string }) => {
      await createProject(resolve(folder), packages === undefined ? undefined : resolve(packages));
      process.stdout.write(nextSteps(folder, packages !== undefined));
    });

const nextSteps = (folder: string, hasPackages: boolean): string =>
  `Created ${folder}: a webhook receiver, with a test that runs on a dev chain.

  cd ${folder}
${hasPackages ? "  npm install" : "  npm install RELEASE/uniknode*.tgz"}
  npm test
${hasPackages ? "" : "\nRELEASE is the folder with the release packages; in a clone, npm run release -- packages creates them.\n"}
See README.md in this folder for more.
`;

/**
 * Writes the project into a folder, which is created if missing.
 *
 * @param packages folder with the packed packages of this version; if not given, the project depends on the version only
 * @throws {ConfigError} if the folder is complete or has other content, cannot be created, or a packed file is missing
 * @throws {CodedError} FOLDER_IN_USE
 */
export async function createProject(folder: string, packages?: string): Promise<void> {
  const dependencies = packages === undefined ? byVersion() : packed(packages);
  const entries = readdirSync(TEMPLATE, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(TEMPLATE, join(entry.parentPath, entry.name)));
  const own = [...files.map(targetOf), "test", MANIFEST, `${MANIFEST}.part`];
  const options = {
    what: "the project folder",
    flag: "uniknode init FOLDER",
    isOwn: (path: string) => own.includes(path),
    last: MANIFEST,
  };
  await fillNewFolder(folder, options, () => {
    for (const path of files) {
      const target = join(folder, targetOf(path));
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(join(TEMPLATE, path), target);
    }
    writeWholeFile(
      join(folder, MANIFEST),
      `${JSON.stringify(manifest(basename(folder), dependencies), null, 2)}\n`,
    );
  });
}

const MANIFEST = "package.json";

/** npm does not pack a .npmrc, and would use a .gitignore as a list of files not to pack. */
const targetOf = (path: string): string => (["gitignore", "npmrc"].includes(path) ? `.${path}` : path);

/** Version or file of each package, by name. */
type Dependencies = {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};

/** Returns the dependencies by version; installing the packed files satisfies them. */
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
    if (!existsSync(file))
      throw new ConfigError(`--packages: ${file} is missing; npm run release creates it`);
    return `file:${file}`;
  };
  return {
    dependencies: {
      "@uniknode/client": at("uniknode-client"),
      "@uniknode/protocol": at("uniknode-protocol"),
    },
    // The program itself depends on the ledger.
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

/** Converts a folder name to a valid npm name: `My App` becomes `my-app`. */
const packageName = (folderName: string): string =>
  folderName
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "")
    .replace(/-+$/, "") || "receiver";
