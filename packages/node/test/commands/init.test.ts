/** Project that `uniknode init` creates. Its own test runs in test/release, where it is installed. */
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createProject } from "../../src/commands/init.ts";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../src/dev-chain/network.ts";
import { programVersion } from "../../src/platform/lifecycle/program.ts";
import { present } from "../../src/platform/present.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "uniknode-init-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const FILES = [
  ".gitignore",
  ".npmrc",
  "README.md",
  "main.js",
  "package.json",
  "pay.js",
  "receiver.js",
  "test",
  "test/receiver.test.js",
];

test.each(["", "new", "new/and/deeper"])(
  "A project is written into an empty or new folder: '%s'.",
  async (path) => {
    await createProject(join(folder, path));
    const names = readdirSync(join(folder, path), { recursive: true, encoding: "utf8" });
    expect(names.sort()).toEqual(FILES);
  },
);

test.each([
  ["my-app", "my-app"],
  ["My App (2)", "my-app-2"],
  [".hidden", "hidden"],
  ["été", "t"],
  ["---", "receiver"],
])("The package in the folder %s is called %s and depends on this version.", async (name, expected) => {
  await createProject(join(folder, name));
  const manifest = JSON.parse(readFileSync(join(folder, name, "package.json"), "utf8"));
  expect(manifest.name).toBe(expected);
  expect({ ...manifest.dependencies, ...manifest.devDependencies }).toEqual({
    "@uniknode/client": programVersion(),
    "@uniknode/protocol": programVersion(),
    uniknode: programVersion(),
  });
});

const PROGRAM = fileURLToPath(new URL("../../bin/uniknode.js", import.meta.url));

test("The command explains how to install the packages, none of which is in a registry.", () => {
  const init = (...args: string[]) =>
    execFileSync(process.execPath, [PROGRAM, "init", ...args], { cwd: folder, encoding: "utf8" });
  const printed = init("app");
  expect(printed).toContain("  cd app\n  npm install RELEASE/uniknode*.tgz\n  npm test\n");
  expect(printed).toContain("RELEASE is the folder with the release packages");
  mkdirSync(join(folder, "release"));
  for (const name of ["uniknode-client", "uniknode-protocol", "uniknode-ledger", "uniknode"])
    writeFileSync(join(folder, "release", `${name}-${programVersion()}.tgz`), "");
  const withPackages = init("other", "--packages", "release");
  expect(withPackages).toContain("  cd other\n  npm install\n  npm test\n");
  expect(withPackages).not.toContain("RELEASE");
});

test("The packed files of a release are installed instead of those of the registry.", async () => {
  const packages = join(folder, "release");
  await expect(createProject(join(folder, "app"), packages)).rejects.toThrow(
    `--packages: ${packages}/uniknode-client-${programVersion()}.tgz is missing; npm run release creates it`,
  );
  expect(readdirSync(folder)).toEqual([]);
  mkdirSync(packages);
  const files = ["uniknode-client", "uniknode-protocol", "uniknode-ledger", "uniknode"].map(
    (name) => `${packages}/${name}-${programVersion()}.tgz`,
  );
  for (const file of files) writeFileSync(file, "");
  await createProject(join(folder, "app"), packages);
  const manifest = JSON.parse(readFileSync(join(folder, "app/package.json"), "utf8"));
  expect(Object.values({ ...manifest.dependencies, ...manifest.devDependencies })).toEqual(
    files.map((file) => `file:${file}`),
  );
});

test("The receiver of the project acknowledges a delivery after it is stored, and refuses a long body.", async () => {
  const secret = "5".repeat(64);
  const { href } = new URL("../../templates/receiver/receiver.js", import.meta.url);
  const { createReceiver } = await import(href);
  const store = async () => {
    throw new Error("the disk is full");
  };
  const receiver: Server = createReceiver({ secret: () => secret, onDelivery: store });
  onTestFinished(() => void receiver.close());
  await once(receiver.listen(0, "127.0.0.1"), "listening");
  const post = async (body: string) => {
    const seconds = Math.floor(Date.now() / 1_000);
    const key = Buffer.from(secret, "hex");
    const signature = createHmac("sha256", key).update(`msg_1.${seconds}.${body}`).digest("base64");
    const headers = { "webhook-id": "msg_1", "webhook-timestamp": `${seconds}` };
    const { port } = receiver.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      ...{ method: "POST", body },
      headers: { ...headers, "webhook-signature": `v1,${signature}` },
    });
    return response.status;
  };
  vi.spyOn(console, "error").mockImplementation(() => {});
  const ping = { id: "msg_1", event: "ping", timestamp: 1, webhookId: 1 };
  expect(await post(JSON.stringify(ping))).toBe(500);
  expect(await post("0".repeat(1_048_577))).toBe(413);
});

test("A folder that is not empty is refused and unchanged.", async () => {
  writeFileSync(join(folder, "mine.txt"), "mine");
  await expect(createProject(folder)).rejects.toThrow(
    `the project folder ${folder} is not empty; choose another with uniknode init FOLDER`,
  );
  expect(readdirSync(folder)).toEqual(["mine.txt"]);
});

test("A file, a folder below a file, and a folder that cannot be created are refused.", async () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  for (const [path, reason] of [
    [file, `${file} is not a folder`],
    [join(file, "app"), `${file} is not a folder`],
    ["/proc/app", "the file system does not support folders"],
  ]) {
    await expect(createProject(present(path))).rejects.toThrow(
      `the project folder ${path} cannot be used: ${reason}; choose another with uniknode init FOLDER`,
    );
  }
});

test("The accounts of the project are those of every dev chain.", async () => {
  mkdirSync(join(folder, "app"));
  await createProject(join(folder, "app"));
  const accounts = deriveAccounts(
    "test test test test test test test test test test test junk",
    DEV_ADDRESS_VERSION,
  );
  const text = readFileSync(join(folder, "app/pay.js"), "utf8");
  expect(text).toContain(`"${accounts("account 0").passphrase}"`);
  expect(text).toContain(`"${accounts("account 1").address}"`);
});
