/** The JSON-RPC companion of the node. */

import { present } from "../../../packages/node/src/platform/present.ts";
import { spawnUniknode } from "../../../packages/node/test-support/process/uniknode.ts";
import type { Attack } from "../attack-definition.ts";
import { repeat, send } from "../requests.ts";

const MEDIA_TYPE = "application/vnd.api+json";
const CALLS = 100;

const batch = (method: string, params: (index: number) => object): string =>
  JSON.stringify(
    Array.from({ length: CALLS }, (_, index) => ({
      jsonrpc: "2.0",
      id: index,
      method,
      params: params(index),
    })),
  );

const BODIES = [
  batch("wallets.bip38.create", (index) => ({
    userId: index.toString(16).padStart(2, "0"),
    bip38: "password",
  })),
  batch("blocks.latest", () => ({})),
  batch("wallets.create", () => ({ passphrase: "this is a passphrase" })),
  `${"[".repeat(500_000)}`,
  `[${Array(100_000).fill("{}").join(",")}]`,
];

export const rpcBatches: Attack = {
  name: "JSON-RPC batches",
  description: `batches of ${CALLS} calls, keys under a password among them, at a companion beside the node`,
  async run({ host, httpPort }, tally, signal) {
    const companion = spawnUniknode([
      "rpc",
      ...["--url", `http://${host}:${httpPort}`, "--rpc-port", "0", "--rpc-data", ":memory:"],
    ]);
    const [url] = await companion.printed(/http:\S+/);
    const target = { host, httpPort: Number(new URL(url).port) };
    const headers = { "content-type": MEDIA_TYPE };
    const attack = (body: string) => send(target, tally, { path: "/", from: "127.0.0.1", headers, body });
    // Each of them once, regardless of the start time of the companion.
    await Promise.all(BODIES.map(attack));
    let sent = 0;
    await repeat({ atOnce: 4, pauseMs: 50 }, signal, () => attack(present(BODIES[sent++ % BODIES.length])));
    const silent = { offered() {}, refused() {} };
    const body = '{"jsonrpc":"2.0","id":1,"method":"blocks.latest","params":{}}';
    const status = await send(target, silent, { path: "/", from: "127.0.0.1", headers, body });
    companion.child.kill("SIGTERM");
    await companion.ended;
    if (status !== 200) throw new Error(`the companion responds with ${status} after the attack`);
  },
};
