/**
 * Addresses that cannot be listened on, and folders in use: each message names the next step, and no stack is
 * printed.
 */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../test-support/peers/world.ts";
import { missingLinux, skips } from "../../test-support/process/available.ts";
import { runMain } from "../../test-support/process/main.ts";
import { apiUrlOf, type Running, runUniknode, spawnUniknode } from "../../test-support/process/uniknode.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-listening-"));
const data = join(folder, "running");
let taken: Server;
let takenPort: string;
let node: Running;
let url: string;

beforeAll(async () => {
  taken = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(taken, "listening");
  takenPort = String((taken.address() as { port: number }).port);
  node = spawnUniknode(["dev", "--data", data, "--http-port", "0", "--block-time", "3600"]);
  url = await apiUrlOf(node);
  await node.printed(/Ctrl-C stops/);
});
afterAll(async () => {
  taken.close();
  node.child.kill("SIGKILL");
  await node.ended;
  rmSync(folder, { recursive: true, force: true });
});

const register = join(folder, "webhooks.json");
writeFileSync(register, "[]");
/** An address of a network that is reserved for documentation. */
const ELSEWHERE = "203.0.113.7";
const dev = (...more: string[]) => ["dev", "--data", join(folder, "new"), "--http-port", "0", ...more];

describe("an unavailable port", () => {
  test.each<[name: string, args: () => string[], what: () => string, next: string]>([
    [
      "P2P port",
      () => dev("--p2p-host", "127.0.0.1", "--p2p-port", takenPort),
      () => `port ${takenPort} of 127.0.0.1 is in use`,
      "--p2p-host",
    ],
    ["P2P address", () => dev("--p2p-host", ELSEWHERE, "--p2p-port", "0"), () => ELSEWHERE, "--p2p-host"],
    ["P2P name", () => dev("--p2p-host", "http://x", "--p2p-port", "0"), () => "http://x", "--p2p-host"],
    [
      "HTTP port",
      () => dev("--http-port", takenPort),
      () => `port ${takenPort} of 127.0.0.1 is in use`,
      "--http-port",
    ],
    ["HTTP address", () => dev("--http-host", ELSEWHERE), () => ELSEWHERE, "--http-host"],
    ["IPv6 address", () => dev("--http-host", "2001:db8::7"), () => "2001:db8::7", "--http-host"],
    ["operations port", () => dev("--operations-port", takenPort), () => takenPort, "--operations-port"],
    [
      "operations address",
      () => dev("--operations-port", "0", "--operations-host", ELSEWHERE),
      () => ELSEWHERE,
      "--operations-host",
    ],
    [
      "JSON-RPC port",
      () => ["rpc", "--url", url, "--rpc-data", ":memory:", "--rpc-port", takenPort],
      () => takenPort,
      "--rpc-port",
    ],
    [
      "JSON-RPC address",
      () => ["rpc", "--url", url, "--rpc-data", ":memory:", "--rpc-host", ELSEWHERE],
      () => ELSEWHERE,
      "--rpc-host",
    ],
  ])("%s", async (_name, args, what, next) => {
    const { code, stderr } = await runUniknode(args());
    expect(stderr).toContain(what());
    expect(stderr).toContain(next);
    expect(stderr).not.toMatch(/^ +at |bug in uniknode/m);
    expect(stderr.trim().split("\n")).toEqual([expect.any(String)]);
    expect(code).toBe(1);
  });
});

describe.skipIf(skips(missingLinux()))("a port of another node", () => {
  test("The message about a port of another node names its process and URL.", async () => {
    const { port } = new URL(url);
    for (const args of [
      dev("--http-port", port),
      dev("--p2p-host", "127.0.0.1", "--p2p-port", port),
      ["rpc", "--url", url, "--rpc-data", ":memory:", "--rpc-port", port],
    ]) {
      const { code, stderr } = await runUniknode(args);
      expect(stderr).toContain(`another uniknode uses it (process ${node.child.pid} at ${url})`);
      expect(stderr.trim().split("\n")).toEqual([expect.any(String)]);
      expect(code).toBe(1);
    }
  });

  test("The doctor names the process and the URL of another node at the port as well.", async () => {
    const { stdout } = await runUniknode([
      "doctor",
      "--data",
      join(folder, "new"),
      "--http-port",
      new URL(url).port,
    ]);
    expect(stdout).toContain(
      `stop the uniknode (process ${node.child.pid} at ${url}) with another data folder`,
    );
  });
});

describe("a data folder in use", () => {
  test.each([
    ["dev", () => ["dev", "--data", data, "--http-port", "0", "--block-time", "3600"]],
    ["dev --reset", () => ["dev", "--data", data, "--http-port", "0", "--reset"]],
    ["webhooks import", () => ["webhooks", "import", register, "--data", data]],
  ])(
    "The message about a data folder in use names the process and the URL of the other one: %s.",
    async (_name, args) => {
      const { code, stderr } = await runUniknode(args());
      expect(stderr).toContain(
        `is in use by another uniknode (process ${node.child.pid} at ${url}); stop that process`,
      );
      expect(code).toBe(1);
    },
  );

  test("The message about a data folder in use names no process that has ended, or that no note describes.", async () => {
    for (const note of [JSON.stringify({ pid: 2 ** 22 + 1, url }), '{"pid": "1"}', "", "x".repeat(10_000)]) {
      writeFileSync(join(data, "lock.sqlite.holder"), note);
      const { stderr } = await runUniknode([
        "dev",
        "--data",
        data,
        "--http-port",
        "0",
        "--block-time",
        "3600",
      ]);
      expect(stderr).toContain("is in use by another uniknode; stop that process");
    }
  });
});

describe("doctor fails if a start fails", () => {
  const doctor = (...args: string[]) => runMain(["doctor", "--data", join(folder, "fresh"), ...args]);

  test("The port of another node is named with its process.", async () => {
    const { code, stdout } = await doctor("--http-port", new URL(url).port);
    expect(stdout).toMatch(
      /^fail +HTTP port +port \d+ of 127\.0\.0\.1 cannot be used: EADDRINUSE\n.*uniknode \(process \d+.*\) with another data folder/m,
    );
    expect(code).toBe(1);
  });

  test("The doctor fails for the peer port and the operations port of a dev chain.", async () => {
    const { stdout } = await doctor(
      "--http-port",
      "0",
      "--p2p-host",
      "127.0.0.1",
      "--p2p-port",
      takenPort,
      "--operations-port",
      takenPort,
    );
    expect(stdout).toMatch(/^fail +peer port /m);
    expect(stdout).toMatch(/^fail +operations /m);
  });

  test("The doctor fails for one port for two listeners.", async () => {
    const port = await freePort();
    const { stdout } = await doctor("--http-port", `${port}`, "--operations-port", `${port}`);
    expect(stdout).toContain(`port ${port} is already used as the HTTP port`);
  });

  test("The doctor fails for an address of another machine.", async () => {
    const { stdout } = await doctor("--http-port", "0", "--http-host", ELSEWHERE);
    expect(stdout).toMatch(/^fail +HTTP port .*EADDRNOTAVAIL\n.*choose another with --http-host/m);
  });
});
