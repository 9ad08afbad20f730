import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runUniknode } from "../../test-support/process/uniknode.ts";

test("The help shows the commands, and every option of each.", async () => {
  const { code, stdout } = await runUniknode(["--help"]);
  expect(code).toBe(0);
  for (const name of [
    "dev",
    "run",
    "listen",
    "status",
    "block",
    "wallet",
    "unik",
    "tx",
    "rpc",
    "webhooks",
    "version",
  ]) {
    expect(stdout).toMatch(new RegExp(`^  ${name} .*\\w`, "m"));
  }
  const dev = await runUniknode(["dev", "--help"]);
  for (const flag of [
    "--data",
    "--http-host",
    "--http-port",
    "--webhook-token",
    "--delegates",
    "--log-level",
  ]) {
    expect(dev.stdout).toContain(flag);
  }
  for (const flag of ["--config", "--block-time", "--instant", "--accounts", "--mnemonic", "--reset"]) {
    expect(dev.stdout).toContain(flag);
  }
});

test("The version command prints the versions of the protocol, the program and Node.js.", async () => {
  const { code, stdout } = await runUniknode(["version"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^uniknode \d+\.\d+\.\d+ protocol, \d+\.\d+\.\d+ program \(Node\.js \d+/);
});

test("An outdated Node.js is refused with one sentence, before anything is loaded.", async () => {
  const pretend =
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })";
  const { code, stdout, stderr } = await runUniknode(["version"], {
    nodeArguments: ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`],
  });
  expect(code).toBe(1);
  expect(stdout).toBe("");
  expect(stderr).toBe(
    "uniknode needs Node.js 22.19 or newer, but this is 20.20.2: " +
      "install a newer version, or use the archive, which contains its own runtime\n",
  );
});

test("One command imports webhooks of an old node.", async () => {
  const [data, file] = [folder(), join(folder(), "webhooks.json")];
  const id = "11111111-aaaa-4bbb-8ccc-dddddddddddd";
  const target = "https://receiver.example/hook";
  const webhook = {
    id,
    event: "block.forged",
    target,
    enabled: true,
    conditions: [],
    token: "ab".repeat(16),
  };
  writeFileSync(file, JSON.stringify({ webhooks: [webhook] }));
  const first = await runUniknode(["webhooks", "import", file, "--data", data]);
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toMatch(`1  ${id}  block.forged  ${target}\nwebhooks registered: 1;`);
  const second = await runUniknode(["webhooks", "import", file, "--data", data]);
  expect(second.stdout).toMatch(/^webhooks registered: 0;/);
});

const folder = () => mkdtempSync(join(tmpdir(), "uniknode-cli-"));

describe("invalid calls end with code 2 and name the next step", () => {
  test.each<[string[], string]>([
    [["run", "--network-dir", "/nowhere"], "network.json and milestones.json and genesisBlock.json missing"],
    [["dev", "--webhook-key-file", "/nowhere/key"], "key file of --webhook-key-file cannot be read"],
  ])("uniknode %j", async (args, message) => {
    const { code, stderr } = await runUniknode([...args, "--data", folder()]);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  test("A genesis block of another network ends the call with code 2 and the next step.", async () => {
    const data = folder();
    const genesis = join(data, "genesisBlock.json");
    writeFileSync(genesis, JSON.stringify({ payloadHash: "00".repeat(32) }));
    const { code, stderr } = await runUniknode([
      "run",
      "--network",
      "livenet",
      "--genesis",
      genesis,
      "--data",
      data,
    ]);
    expect(stderr).toContain("f8e625f678c4720968340501a5f2d3c88bc509c638d9ef9964c3da561dd33c44");
    expect(code).not.toBe(0);
  });

  test("A delegates file without passphrases ends the call with code 2 and the next step.", async () => {
    const data = folder();
    const delegates = join(data, "delegates.json");
    writeFileSync(delegates, JSON.stringify({ secrets: [] }));
    const { code, stderr } = await runUniknode(["dev", "--delegates", delegates, "--data", data]);
    expect(stderr).toMatch(/delegates file .*: it must be an object with at least one passphrase/);
    expect(code).toBe(2);
  });
});
