/**
 * Builds the four packages as plain JavaScript with types and without tests. In this repository they run from their sources,
 * but Node.js does not strip types below `node_modules`.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { manifestMembers, type Origin } from "./origin.ts";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Folders of `packages`, in the order of their dependencies. */
export const PACKAGES = ["protocol", "ledger", "client", "node"] as const;

/** Returns the version that all packages of a workspace share. */
export const versionOf = (root: string): string => readManifest(join(root, "packages/node")).version;

type Manifest = { readonly version: string; readonly [member: string]: unknown };

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

/** Writes each package, whose types `npm run check` has checked, ready for `npm pack`, into a folder of its name below `folder`. */
export function compilePackages(folder: string, origin: Origin = {}): void {
  const compiled = join(folder, "compiled");
  execFileSync(
    join(ROOT, "node_modules/.bin/tsc"),
    ["--project", join(ROOT, "tools/release"), "--outDir", compiled],
    { stdio: "inherit" },
  );
  for (const name of PACKAGES) {
    const [source, target] = [join(ROOT, "packages", name), join(folder, name)];
    mkdirSync(target, { recursive: true });
    cpSync(join(compiled, name, "src"), join(target, "dist"), { recursive: true });
    // Files besides code, such as the migrations of the database.
    const isNoCode = (path: string) => statSync(path).isDirectory() || extname(path) !== ".ts";
    cpSync(join(source, "src"), join(target, "dist"), { recursive: true, filter: isNoCode });
    for (const extra of ["bin", "checkpoints", "native", "templates"]) {
      if (existsSync(join(source, extra))) {
        cpSync(join(source, extra), join(target, extra), { recursive: true });
      }
    }
    if (name === "node") copyConsole(join(target, "console"));
    writeFileSync(join(target, "README.md"), withoutLinks(readFileSync(join(source, "README.md"), "utf8")));
    copyFileSync(join(ROOT, "LICENSE"), join(target, "LICENSE"));
    writeFileSync(
      join(target, "package.json"),
      publishedManifest({ ...readManifest(source), ...manifestMembers(origin, name) }),
    );
  }
}

/** Copies the files that `npm run release` has built before (`tools/run.mjs`); the program finds them next to its modules. */
function copyConsole(target: string): void {
  const built = join(ROOT, "packages/console/dist");
  if (!existsSync(join(built, "index.html"))) {
    throw new Error(`${built} is missing: npm run console builds it`);
  }
  cpSync(built, target, { recursive: true });
}

/** Removes links to other files of the repository, which are not packed. */
const withoutLinks = (page: string): string => page.replaceAll(/\[([^\]]+)\]\(\.\.\/[^)]+\)/g, "$1");

/** Converts the manifest of the workspace: public, without development fields, with compiled modules instead of sources. */
function publishedManifest({ private: _, devDependencies, ...manifest }: Manifest): string {
  return `${JSON.stringify(manifest, null, 2).replaceAll(/"\.\/src\/(.*)\.ts"/g, '"./dist/$1.js"')}\n`;
}

/** Packs compiled packages into `folder`, and returns the paths of the files. */
export function packPackages(compiled: string, folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  const args = ["pack", "--json", "--loglevel=error", "--ignore-scripts", "--pack-destination", folder];
  const output = execFileSync("npm", [...args, ...PACKAGES.map((name) => `./${name}`)], {
    cwd: compiled,
    encoding: "utf8",
  });
  return (JSON.parse(output) as { filename: string }[]).map(({ filename }) => join(folder, filename));
}
