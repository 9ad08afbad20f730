/** The package for Debian and its relatives: the program in /opt/uniknode, and the unit of systemd. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { sourceTime } from "./archive.ts";
import { debianFields, type Origin } from "./origin.ts";
import { ROOT } from "./packages.ts";

const OPS = join(ROOT, "ops");
const SCRIPTS = ["postinst", "prerm", "postrm"];

/** Builds the package `file` of an installed program; `folder` takes what is packed. Needs `dpkg-deb`, not root. */
export function buildDebianPackage(
  program: string,
  { version, ...origin }: Origin & { readonly version: string },
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
  copyFileSync(join(OPS, "systemd/uniknode.service"), at("usr/lib/systemd/system/uniknode.service"));
  copyFileSync(join(OPS, "debian/uniknode.env"), at("etc/uniknode/uniknode.env"));
  // It may hold passphrases.
  chmodSync(join(folder, "etc/uniknode/uniknode.env"), 0o600);
  const control = readFileSync(join(OPS, "debian/control"), "utf8");
  writeFileSync(
    at("DEBIAN/control"),
    control.replace("VERSION", version).replace("ORIGIN\n", debianFields(origin)),
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
