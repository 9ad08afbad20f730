/** Debian package: the program in /opt/uniknode, the units of systemd, manual page, changelog and completions. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { placesOf, scripts } from "../../packages/node/src/commands/completion.ts";
import { createProgram } from "../../packages/node/src/commands/program.ts";
import { sourceTime } from "./archive.ts";
import { manualPage } from "./man.ts";
import { debianFields, maintainerOf, type Origin } from "./origin.ts";
import { ROOT } from "./packages.ts";

const OPS = join(ROOT, "ops");
const SCRIPTS = ["postinst", "prerm", "postrm"];

type Versioned = Origin & { readonly version: string };

const PROGRAM = await createProgram();

/** Returns the manual page, the changelog, and the completion of each shell for the path that the shell searches. */
function documents({
  version,
  ...origin
}: Versioned): readonly (readonly [path: string, content: string | Buffer])[] {
  const places = placesOf(PROGRAM);
  return [
    ["usr/share/doc/uniknode/changelog.gz", gzipSync(changelog({ version, ...origin }), { level: 9 })],
    [
      "usr/share/man/man1/uniknode.1.gz",
      gzipSync(manualPage(PROGRAM, version, Number(sourceTime())), { level: 9 }),
    ],
    ["usr/share/bash-completion/completions/uniknode", scripts.bash(places)],
    ["usr/share/zsh/vendor-completions/_uniknode", scripts.zsh(places)],
    ["usr/share/fish/vendor_completions.d/uniknode.fish", scripts.fish(places)],
  ];
}

/** Returns the changelog in the format of Debian, which refers to that of the program. */
function changelog({ version, ...origin }: Versioned): string {
  const date = new Date(Number(sourceTime()) * 1_000).toUTCString().replace("GMT", "+0000");
  return `uniknode (${version}) stable; urgency=medium

  * /opt/uniknode/CHANGELOG.md lists the changes.

 -- ${maintainerOf(origin)}  ${date}
`;
}

/** Computes the installed size like `dpkg-gencontrol`: each file in whole KiB, and one for every other entry. */
function installedKibibytes(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const sizes = entries
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.startsWith(join(folder, "DEBIAN")))
    .map((path) => lstatSync(path))
    .map((stats) => (stats.isFile() ? Math.ceil(stats.size / 1_024) : 1));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Builds the package `file` from an installed program, with `folder` for its contents. Needs `dpkg-deb`, but not root. */
export function buildDebianPackage(
  program: string,
  { version, ...origin }: Versioned,
  folder: string,
  file: string,
): void {
  const at = (path: string): string => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    return join(folder, path);
  };
  cpSync(program, at("opt/uniknode"), { recursive: true, verbatimSymlinks: true });
  symlinkSync("/opt/uniknode/bin/uniknode", at("usr/bin/uniknode"));
  copyFileSync(join(ROOT, "LICENSE"), at("usr/share/doc/uniknode/copyright"));
  for (const unit of readdirSync(join(OPS, "systemd")))
    copyFileSync(join(OPS, "systemd", unit), at(`usr/lib/systemd/system/${unit}`));
  copyFileSync(join(OPS, "debian/lintian-overrides"), at("usr/share/lintian/overrides/uniknode"));
  for (const [path, content] of documents({ version, ...origin })) {
    writeFileSync(at(path), content);
    chmodSync(join(folder, path), 0o644);
  }
  copyFileSync(join(OPS, "debian/uniknode.env"), at("etc/uniknode/uniknode.env"));
  // It can contain passphrases.
  chmodSync(join(folder, "etc/uniknode/uniknode.env"), 0o600);
  const control = readFileSync(join(OPS, "debian/control"), "utf8");
  writeFileSync(
    at("DEBIAN/control"),
    control
      .replace("VERSION", version)
      .replace("ORIGIN\n", debianFields(origin))
      .replace("SIZE", `${installedKibibytes(folder)}`),
  );
  writeFileSync(at("DEBIAN/conffiles"), "/etc/uniknode/uniknode.env\n");
  for (const script of SCRIPTS) {
    copyFileSync(join(OPS, "debian", script), at(`DEBIAN/${script}`));
    chmodSync(join(folder, "DEBIAN", script), 0o755);
  }
  execFileSync("dpkg-deb", ["--root-owner-group", "-Zgzip", "--build", folder, file], {
    env: { ...process.env, SOURCE_DATE_EPOCH: sourceTime() },
    stdio: ["ignore", "ignore", "inherit"],
  });
}
