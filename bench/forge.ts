/**
 * `npm run bench -- forge`: submissions through HTTP into the pool and into blocks, against the real program.
 *
 * Prints accepted transfers per second, the response time, and the time until all are forged. The rules of blocks bound
 * the last figure: at most 500 transactions per block, one block per second.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Transaction } from "@uniknode/protocol";
import { deriveAccounts } from "../packages/node/src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../packages/node/src/dev-chain/network.ts";
import { present } from "../packages/node/src/platform/present.ts";
import { connect, transferOf } from "../packages/node/test-support/process/client.ts";
import { apiUrlOf, spawnUniknode } from "../packages/node/test-support/process/uniknode.ts";
import { readArguments } from "../tools/arguments.ts";

const { values } = readArguments("bench forge", {
  options: {
    accounts: { type: "string", default: "100" },
    each: { type: "string", default: "50" },
    batch: { type: "string", default: "1" },
    clients: { type: "string", default: "32" },
  },
});
const [accounts, each, batch, clients] = [values.accounts, values.each, values.batch, values.clients].map(
  Number,
) as [number, number, number, number];

const MNEMONIC = "test test test test test test test test test test test junk";
const accountNamed = deriveAccounts(MNEMONIC, DEV_ADDRESS_VERSION);
const senders = Array.from({ length: accounts }, (_, index) => accountNamed(`account ${index}`));
/** Next nonce of an account: the first ones have minted their uniks in the first blocks. */
const firstNonce = (index: number) => (index < 3 ? 2n : 1n);

const folder = mkdtempSync(join(tmpdir(), "uniknode-bench-"));
const node = spawnUniknode(
  ["dev", "--data", folder, "--http-port", "0", "--block-time", "1", "--accounts", String(accounts)],
  { environment: { UNIKNODE_STACK: "1" } },
);
try {
  const url = await apiUrlOf(node);
  const { network, get, submit } = await connect(url);
  console.log(`signing ${accounts * each} transfers ...`);
  const requests = Array.from({ length: each }, (_, round) =>
    senders.map((sender, index) =>
      transferOf(network, sender, present(senders[0]).address, firstNonce(index) + BigInt(round)),
    ),
  )
    .flat()
    .reduce<Transaction[][]>((groups, transaction) => {
      const last = groups.at(-1);
      if (last && last.length < batch) last.push(transaction);
      else groups.push([transaction]);
      return groups;
    }, []);
  const responseTimesMs: number[] = [];
  let accepted = 0;
  let next = 0;
  const refusals = new Map<string, number>();
  const startMs = performance.now();
  async function client(): Promise<void> {
    for (let request = requests[next++]; request; request = requests[next++]) {
      const sentMs = performance.now();
      const response = await submit(request);
      responseTimesMs.push(performance.now() - sentMs);
      accepted += response.accepted.length;
      for (const [{ type } = { type: "?" }] of Object.values(response.errors)) {
        refusals.set(type, (refusals.get(type) ?? 0) + 1);
      }
    }
  }
  await Promise.all(Array.from({ length: clients }, client));
  const acceptedMs = performance.now() - startMs;
  responseTimesMs.sort((a, b) => a - b);
  const percentile = (share: number) =>
    present(responseTimesMs[Math.floor(responseTimesMs.length * share)]).toFixed(1);
  console.log(`${accepted} of ${accounts * each} transfers accepted, ${clients} clients, ${batch} a request`);
  console.log(`${Math.round(accepted / (acceptedMs / 1000))} submissions/s`);
  console.log(`response: median ${percentile(0.5)} ms, p99 ${percentile(0.99)} ms`);
  if (refusals.size > 0) console.log("refused:", Object.fromEntries(refusals));
  const pending = async () => (await get("/api/v2/transactions/unconfirmed?limit=1")) as unknown[];
  while ((await pending()).length > 0) await sleep(100);
  const forgedMs = performance.now() - startMs;
  console.log(
    `all forged after ${(forgedMs / 1000).toFixed(1)} s: ${Math.round(accepted / (forgedMs / 1000))} transfers/s`,
  );
} finally {
  node.child.kill("SIGINT");
  await node.ended;
  rmSync(folder, { recursive: true, force: true });
}
