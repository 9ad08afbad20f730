/** Other processes of the program, under attack beside the node: the JSON-RPC companion, a node with a full log, imports. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  apiUrlOf,
  runUniknode,
  spawnUniknode,
} from "../../../../packages/node/test-support/process/uniknode.ts";
import type { Attack } from "../attacker.ts";
import type { SiegedNode } from "../node.ts";
import { inTurn, until } from "../requests.ts";
import { dataFolderOf, newFolder, startForging } from "../start-node.ts";

const CALLS = 100;
const LOCAL = "127.0.0.1";

const batch = (method: string, params: (index: number) => object): string =>
  JSON.stringify(
    Array.from({ length: CALLS }, (_, id) => ({ jsonrpc: "2.0", id, method, params: params(id) })),
  );

const batches = () => [
  batch("wallets.bip38.create", (index) => ({
    userId: index.toString(16).padStart(2, "0"),
    bip38: "password",
  })),
  batch("blocks.latest", () => ({})),
  batch("wallets.create", () => ({ passphrase: "this is a passphrase" })),
  "[".repeat(500_000),
  `[${Array(100_000).fill("{}").join(",")}]`,
];

const rpcBatches: Attack = {
  name: "JSON-RPC batches",
  description: `batches of ${CALLS} calls, keys under a password among them, at a companion beside the node`,
  async run(attacker) {
    const { host, httpPort } = attacker.target;
    const companion = spawnUniknode([
      "rpc",
      ...["--url", `http://${host}:${httpPort}`, "--rpc-port", "0", "--rpc-data", ":memory:"],
    ]);
    const [url] = await companion.printed(/http:\S+/);
    const headers = { "content-type": "application/vnd.api+json" };
    const call = (body: string) => ({
      path: "/",
      port: Number(new URL(url).port),
      from: LOCAL,
      headers,
      body,
    });
    const calls = batches().map(call);
    // Each of them once, regardless of the start time of the companion.
    await Promise.all(calls.map((each) => attacker.send(each)));
    const next = inTurn(calls);
    await attacker.repeat({ atOnce: 4, pauseMs: 50 }, () => attacker.send(next()));
    const last = '{"jsonrpc":"2.0","id":1,"method":"blocks.latest","params":{}}';
    const { status } = await attacker.ask(call(last));
    companion.child.kill("SIGTERM");
    await companion.ended;
    if (status !== 200) throw new Error(`the companion responds with ${status} after the attack`);
  },
};

const STOP_TIMEOUT_MS = 15_000;
const FORGING_TIMEOUT_MS = 20_000;
const MIN_BLOCKS = 2;
/** The program whose standard error stream is a full disk. */
const FULL_DISK = ["sh", "-c", 'exec "$@" 2> /dev/full', "sh"];

const unwritableLog: Attack = {
  name: "unwritable log",
  description: "a second node that logs to a full disk: it must forge, respond, and stop on SIGTERM",
  async run(attacker) {
    const data = mkdtempSync(join(tmpdir(), "uniknode-siege-log-"));
    const node = spawnUniknode(
      ["dev", "--data", data, "--http-port", "0", "--block-time", "1", "--log-level", "debug"],
      { through: FULL_DISK },
    );
    try {
      attacker.offered();
      const { hostname: host, port } = new URL(await apiUrlOf(node));
      const second = { host, port: Number(port), from: LOCAL };
      const height = async () => {
        const { text } = await attacker.ask({ ...second, path: "/api/v2/blockchain" });
        return (JSON.parse(text) as { data: { block: { height: number } } }).data.block.height;
      };
      const first = await height();
      await attacker.repeat({ atOnce: 2, pauseMs: 20 }, () => attacker.send({ ...second, path: "/api/%zz" }));
      const hasForged = async () => (await height()) >= first + MIN_BLOCKS;
      await until("the second node forges", hasForged, FORGING_TIMEOUT_MS);
      node.child.kill("SIGTERM");
      const ended = await Promise.race([node.ended, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
      if (!ended) throw new Error("SIGTERM does not end it");
      if (ended.code !== 0) throw new Error(`it ended with ${ended.code}`);
    } finally {
      node.child.kill("SIGKILL");
      await node.ended;
      rmSync(data, { recursive: true, force: true });
    }
  },
};

/** Limits of a register with default options. */
const MAX_WEBHOOKS = 1_000;
const MAX_CONDITIONS_BYTES = 16 * 1_024 * 1_024;
const MAX_FILE_BYTES = 64 * 1_024 * 1_024;
/** Left for the honest receiver, which registers when the node runs. */
const ROOM_BYTES = 1_024;
/** Timeout of one refused import, including the start of the program. */
const MAX_REFUSAL_MS = 30_000;
/** Conditions of a webhook, whose values must not be too long. */
const CONDITIONS = 5;

/** Register of an old node, whose webhooks have conditions that are never true. */
function register(count: number, conditionsBytes: number): string {
  const condition = (value: string) => ({ key: "id", condition: "eq", value });
  const emptyBytes = JSON.stringify([condition("")]).length;
  const length = Math.floor(conditionsBytes / count / CONDITIONS) - emptyBytes;
  const conditions = Array(CONDITIONS).fill(condition("x".repeat(length)));
  const webhook = (number: number) => ({
    id: `${number.toString(16).padStart(8, "0")}-aaaa-4bbb-8ccc-dddddddddddd`,
    token: "0123456789abcdef0123456789abcdef",
    event: "block.applied",
    target: `http://127.0.0.1:9/siege/${number}`,
    enabled: true,
    conditions,
  });
  return JSON.stringify({ webhooks: Array.from({ length: count }, (_, number) => webhook(number)) });
}

const filled = (unit: string): string => `[${unit.repeat(Math.floor((MAX_FILE_BYTES - 10) / unit.length))}`;

/** Register files, and the message of each refused one. */
const REFUSED: readonly (readonly [content: () => string, expected: RegExp])[] = [
  [() => register(MAX_WEBHOOKS + 1, 1_000_000), /more than 1000 webhooks/],
  [() => register(MAX_WEBHOOKS, MAX_CONDITIONS_BYTES + 1_000_000), /must not be larger than 16777216 bytes/],
  [() => `${filled("{},")}{}]`.padEnd(MAX_FILE_BYTES + 1), /larger than 67108864 bytes/],
  [() => `${filled("{},")}{}]`, /more than 1000000 values/],
  [() => `${filled("0,")}0]`, /more than 1000000 values/],
  [() => filled("["), /more than 4096 nested levels/],
  [() => filled("x"), /cannot be read/],
  [() => JSON.stringify({ webhooks: Array(MAX_WEBHOOKS).fill({}) }), /webhook 1000 of the file: "id" is/],
];

/** @throws {Error} unless the import is refused in time for the expected reason; absent: unless it succeeds */
async function bring(file: string, data: string, refusal?: RegExp): Promise<void> {
  const startedMs = performance.now();
  const { code, stderr } = await runUniknode(["webhooks", "import", file, "--data", data]);
  const ms = performance.now() - startedMs;
  const said = `code ${code} and "${stderr.slice(0, 300)}"`;
  const isExpected = refusal ? (code === 1 || code === 2) && refusal.test(stderr) : code === 0;
  if (!isExpected) throw new Error(`an import ends with ${said}, expected: ${refusal ?? "success"}`);
  if (refusal && ms > MAX_REFUSAL_MS) throw new Error(`the refusal took ${Math.round(ms)} ms: ${said}`);
}

/** A node with the maximum of imported webhooks and conditions, minus the webhooks of the honest receiver. */
async function startFull(): Promise<SiegedNode> {
  const folder = newFolder();
  const file = join(folder, "webhooks.json");
  writeFileSync(file, register(MAX_WEBHOOKS - 1, MAX_CONDITIONS_BYTES - ROOM_BYTES));
  await bring(file, dataFolderOf(folder));
  return startForging({ folder });
}

const registerImports: Attack = {
  name: "register imports",
  description:
    "a node with an imported register at its bounds, beside imports of larger ones, and into the folder of the running node",
  start: startFull,
  async run(attacker) {
    const folder = mkdtempSync(join(tmpdir(), "uniknode-siege-imports-"));
    const [data, running] = [join(folder, "data"), join(attacker.target.diskFolder, "data")];
    mkdirSync(data);
    const fileOf = (name: string, content: string): string => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const full = fileOf("full.json", register(MAX_WEBHOOKS, MAX_CONDITIONS_BYTES));
    const next = inTurn([
      () => bring(full, running, /in use/),
      ...REFUSED.map(([content, expected], index) => {
        const file = fileOf(`${index}.json`, content());
        return () => bring(file, data, expected);
      }),
    ]);
    try {
      await attacker.repeat({}, async () => {
        attacker.offered();
        await next()();
        attacker.refused();
      });
      // It fits only if the refused files imported nothing.
      attacker.offered();
      await bring(full, data);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

export const PROGRAMS: readonly Attack[] = [rpcBatches, unwritableLog, registerImports];
