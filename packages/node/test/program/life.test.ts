/** Starting, continuing, refusing and stopping, with the real program. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNetwork } from "@uniknode/protocol";
import { afterEach, describe, expect, test } from "vitest";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { castOf, DEV_ADDRESS_VERSION, devGenesis } from "../../src/dev-chain/network.ts";
import { present } from "../../src/platform/present.ts";
import { connect, transferOf } from "../../test-support/process/client.ts";
import { writeNetwork } from "../../test-support/process/network.ts";
import { apiUrlOf, type Running, runUniknode, spawnUniknode } from "../../test-support/process/uniknode.ts";

const MNEMONIC = "test test test test test test test test test test test junk";
const people = deriveAccounts(MNEMONIC, DEV_ADDRESS_VERSION);
const folders: string[] = [];
const running: Running[] = [];

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-life-"));
  folders.push(folder);
  return folder;
}

function dev(folder: string, ...args: string[]): Running {
  const node = spawnUniknode(["dev", "--data", folder, "--http-port", "0", "--block-time", "1", ...args]);
  running.push(node);
  return node;
}

async function stop(node: Running, signal: NodeJS.Signals = "SIGINT") {
  node.child.kill(signal);
  return node.ended;
}

afterEach(async () => {
  for (const node of running.splice(0)) await stop(node, "SIGKILL");
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

describe("stopping and starting again", () => {
  test.each(["SIGINT", "SIGTERM"] as const)(
    "%s ends cleanly, and the same chain continues with its webhook token",
    async (signal) => {
      const folder = newFolder();
      const first = dev(folder);
      const [, height] = await first.printed(/^block (\d+) /m);
      const [, token] = await first.printed(/Webhook token\s+([0-9a-f]{64})\s/);
      const ended = await stop(first, signal);
      expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining("Stopped.") });
      const second = dev(folder);
      await second.printed(/continued at height/);
      const [, next] = await second.printed(/^block (\d+) /m);
      expect(Number(next)).toBeGreaterThan(Number(height));
      const [, kept] = await second.printed(/Webhook token\s+(\S+)\s/);
      expect(kept).toBe(token);
    },
  );

  test("A second interrupt ends the node at once.", async () => {
    const node = dev(newFolder());
    await node.printed(/Ctrl-C stops/);
    node.child.kill("SIGINT");
    node.child.kill("SIGINT");
    expect([0, 130]).toContain((await node.ended).code);
  });

  test("A pending transaction survives a restart and is forged.", async () => {
    const folder = newFolder();
    // With slots of an hour nothing is forged while this test runs.
    const args = ["dev", "--data", folder, "--http-port", "0", "--block-time", "3600"];
    const start = () => {
      const node = spawnUniknode(args);
      running.push(node);
      return node;
    };
    const first = start();
    const { network, submit } = await connect(await apiUrlOf(first));
    const transfer = transferOf(network, people("account 5"), people("account 6").address, 1n);
    expect(await submit([transfer])).toMatchObject({ status: 200, accepted: [transfer.id] });
    await stop(first, "SIGKILL");
    const { get } = await connect(await apiUrlOf(start()));
    expect(await get("/api/transactions/unconfirmed")).toMatchObject([{ id: transfer.id }]);
  });
});

describe("on demand", () => {
  test("A block is forged as soon as a transaction is accepted, and only then.", async () => {
    const node = dev(newFolder(), "--instant");
    const { network, submit, get } = await connect(await apiUrlOf(node));
    await node.printed(/Ctrl-C stops/);
    const height = async () => ((await get("/api/blockchain")) as { block: { height: number } }).block.height;
    expect(await height()).toBe(3);
    const transfer = transferOf(network, people("account 5"), people("account 6").address, 1n);
    await submit([transfer]);
    await node.printed(/^block 4 .* 1 transaction /m);
    expect(await get(`/api/transactions/${transfer.id}`)).toMatchObject({ id: transfer.id });
    expect(await height()).toBe(4);
  });
});

describe("a refused start names the reason and changes nothing", () => {
  test("A start on a dev chain of another shape is refused, until the chain is reset.", async () => {
    const folder = newFolder();
    const first = dev(folder);
    await first.printed(/Ctrl-C stops/);
    await stop(first);
    const other = await runUniknode(["dev", "--data", folder, "--http-port", "0", "--accounts", "3"]);
    expect(other.stderr).toContain("was started with other values of accounts and blockTime");
    expect(other.code).toBe(2);
    const reset = dev(folder, "--accounts", "3", "--reset");
    await reset.printed(/Ctrl-C stops/);
    expect(reset.stdout()).not.toContain("continued");
    expect(reset.stdout()).toContain("Accounts (3 of 3;");
  });

  test("A start with a damaged description of a dev chain is refused, until it is reset.", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "dev-chain.json"), '{"mnemonic": "test tes');
    const { code, stderr } = await runUniknode(["dev", "--data", folder, "--http-port", "0"]);
    expect(stderr).toMatch(/dev-chain\.json cannot be read: it is not JSON.*; start over with --reset/);
    expect(stderr).not.toContain("test tes");
    expect(code).toBe(2);
    await dev(folder, "--reset").printed(/Ctrl-C stops/);
  });

  test("--reset deletes nothing but a dev chain", async () => {
    const folder = newFolder();
    const precious = join(folder, "node.sqlite");
    writeFileSync(precious, "of another program");
    const { code, stderr } = await runUniknode(["dev", "--data", folder, "--reset"]);
    expect(stderr).toContain("does not contain a dev chain");
    expect(code).toBe(2);
    expect(existsSync(precious)).toBe(true);
  });

  test("A start on the data folder of another network is refused, while its node runs and afterwards.", async () => {
    const folder = newFolder();
    const data = join(folder, "data");
    writeNetwork(folder, devGenesis(castOf(people, 3), 1));
    const run = () => {
      const node = spawnUniknode([
        ...["run", "--network-dir", folder, "--data", data, "--alone", "--http-port", "0"],
        ...["--webhooks", "off"],
      ]);
      running.push(node);
      return node;
    };
    const refused = async (...more: string[]) => {
      const { stderr, code } = await runUniknode(["dev", "--data", data, "--http-port", "0", ...more]);
      expect(code).not.toBe(0);
      return stderr;
    };
    const node = run();
    await node.printed(/^http/m);
    expect(await refused()).toContain("is in use by another uniknode");
    expect(await refused("--reset")).toContain("does not contain a dev chain");
    expect((await stop(node)).code).toBe(0);
    expect(await refused()).toContain("holds the chain of another network");
    expect(await refused("--reset")).toContain("does not contain a dev chain");
    await run().printed(/^http/m);
  });
});

describe("a network from its files", () => {
  test("A node that uniknode run starts on a network from its files forges with the given delegates.", async () => {
    const cast = castOf(people, 1);
    const { block, files } = devGenesis(cast, 8);
    const networkDir = join(newFolder(), "network");
    writeNetwork(networkDir, { block, files });
    const secrets = cast.founders.map(({ passphrase }) => passphrase);
    writeFileSync(join(networkDir, "delegates.json"), JSON.stringify({ secrets }));

    const node = spawnUniknode(
      ["run", "--network-dir", networkDir, "--alone", "--data", newFolder(), "--http-port", "0"].concat(
        "--delegates",
        join(networkDir, "delegates.json"),
        "--webhook-token",
        "life-test",
        "--rate-limit",
        "0",
      ),
    );
    running.push(node);
    const [url] = await node.printed(/^http:\S+$/m);
    const { network, get } = await connect(url);
    expect(network.description.nethash).toBe(createNetwork(files).description.nethash);
    expect(await get("/api/node/configuration")).toMatchObject({
      nethash: files.network.nethash,
      // Although the node has no peers: clients query the port unconditionally.
      ports: { "@arkecosystem/core-p2p": 4002, "@arkecosystem/core-api": Number(new URL(url).port) },
    });
    const response = await fetch(`${url}/api/dev/mine`, {
      method: "POST",
      headers: { authorization: "life-test" },
    });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ message: expect.stringContaining("only on a dev chain") });
    const height = async () => ((await get("/api/blockchain")) as { block: { height: number } }).block.height;
    await expect.poll(height).toBeGreaterThanOrEqual(2);
    // The API may respond with a block before its line of the log has arrived.
    const lines = () => node.stderr().split("\n").slice(0, -1);
    await expect
      .poll(() => lines().map((line) => JSON.parse(line) as object))
      .toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            msg: "forger started",
            delegates: cast.founders.map(({ publicKey }) => publicKey),
          }),
          expect.objectContaining({ msg: "block forged", height: 2, transactions: 0 }),
        ]),
      );
    expect(node.stderr()).not.toContain(present(cast.founders[0]).passphrase);
    expect((await stop(node)).code).toBe(0);
  });
});
