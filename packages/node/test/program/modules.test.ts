/** Modules that a node loads on first use instead of at its start. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runUniknode, spawnUniknode } from "../../test-support/process/uniknode.ts";

const HOOK = new URL("../../test-support/process/loaded-modules.mjs", import.meta.url).pathname;

/** Packages, and folders of the node, that no thread loads before it has work for them. */
const LATER = {
  "the document and its page": /node_modules\/(@fastify\/swagger|yaml)/,
  "the HTTP client of deliveries": /node_modules\/undici/,
  "the client of NATS servers": /node_modules\/@nats-io/,
  "what builds schemas": /node_modules\/typebox/,
  "the serializer of responses": /node_modules\/@fastify\/fast-json-stringify/,
  "metrics of the runtime": /node_modules\/(@opentelemetry|bintrees)/,
  "JSON-RPC": /node\/src\/rpc\//,
  "mirrors and their driver":
    /node\/src\/(mirror|postgres|processes\/mirror|processes\/node\/mirror)|node_modules\/pg/,
  archives: /node\/src\/archive\//,
};
const PEERS = /node\/src\/peers\/(sync|transport|wire)|node_modules\/ws\//;

/** A running dev chain; `loaded` returns the modules that its threads have loaded so far. */
async function startChain(options: readonly string[] = [], environment: NodeJS.ProcessEnv = {}) {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-modules-"));
  const list = join(folder, "loaded");
  const data = ["--data", join(folder, "data")];
  const node = spawnUniknode(["dev", ...data, "--http-port", "0", "--log-level", "warn", ...options], {
    nodeArguments: ["--import", HOOK],
    environment: { LOADED_MODULES: list, NODE_DEBUG_NATIVE: "CODE_CACHE", ...environment },
  });
  async function stop(): Promise<void> {
    node.child.kill();
    await node.ended;
  }
  onTestFinished(async () => {
    await stop();
    rmSync(folder, { recursive: true });
  });
  const [, url] = await node.printed(/(http:\/\/127\.0\.0\.1:\d+)/);
  expect((await fetch(`${url}/api/node/status`)).status).toBe(200);
  const loaded = () => readFileSync(list, "utf8").split("\n");
  const countCompiled = (verdict: string) =>
    node
      .stderr()
      .matchAll(new RegExp(`^Code cache of .* is ${verdict}`, "gm"))
      .toArray().length;
  return { url, loaded, countCompiled, stop };
}

/** Loaded modules in both threads that should load later. */
function expectLittle(loaded: readonly string[]): void {
  expect(loaded.filter((module) => /commands\/main|serving\/worker/.test(module))).toHaveLength(2);
  for (const [what, pattern] of Object.entries(LATER)) {
    expect([what, loaded.filter((module) => pattern.test(module))]).toEqual([what, []]);
  }
}

test("A node starts with compiled code, and without the modules that only some nodes need.", async () => {
  // A folder of its own: threads of tests compile the same modules with other settings of the engine.
  const cache = mkdtempSync(join(tmpdir(), "uniknode-compiled-"));
  onTestFinished(() => rmSync(cache, { recursive: true }));
  await (await startChain([], { NODE_COMPILE_CACHE: cache })).stop();
  const { url, loaded, countCompiled } = await startChain([], { NODE_COMPILE_CACHE: cache });
  // Settings of the engine that change before all modules are loaded invalidate their compiled code.
  await expect.poll(() => countCompiled("accepted")).toBeGreaterThan(200);
  expect(countCompiled("rejected")).toBeLessThan(20);
  expectLittle(loaded());
  expect(loaded().filter((module) => PEERS.test(module))).toEqual([]);

  expect((await fetch(`${url}/documentation`)).status).toBe(200);
  const document = LATER["the document and its page"];
  expect(loaded().some((module) => document.test(module))).toBe(true);
});

test("A node with peers starts with the modules that they need.", async () => {
  const { loaded } = await startChain(["--p2p-port", "0"]);
  expectLittle(loaded());
  expect(loaded().some((module) => PEERS.test(module))).toBe(true);
});

/** Runs a command line to its end, and returns the modules that it loaded. */
async function modulesOf(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-modules-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const list = join(folder, "loaded");
  const ended = await runUniknode(args, {
    nodeArguments: ["--import", HOOK],
    environment: { LOADED_MODULES: list, ...environment },
  });
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  return readFileSync(list, "utf8").split("\n");
}

test("A command with variables of the node and of clients loads no other command.", async () => {
  const loaded = await modulesOf(["version"], {
    UNIKNODE_URL: "http://127.0.0.1:4003",
    UNIKNODE_HTTP_PORT: "4003",
    UNIKNODE_BLOCK_TIME: "1",
  });
  expect(loaded.filter((module) => module.endsWith("commands/print.ts"))).toHaveLength(1);
  expect(loaded.filter((module) => /commands\/(node|network|rpc|tx\/tx)\.ts$/.test(module))).toEqual([]);
});

test.each(["--help", "--version"])("The call uniknode %s loads no command.", async (flag) => {
  const loaded = await modulesOf([flag]);
  expect(loaded.filter((module) => module.endsWith("commands/catalogue.ts"))).toHaveLength(1);
  const others = /packages\/(protocol|ledger|client)\/|src\/(processes|http|peers)\/|commands\/.*\//;
  expect(loaded.filter((module) => others.test(module) && !module.includes("commands/config.ts"))).toEqual(
    [],
  );
});
