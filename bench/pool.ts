/**
 * `npm run bench -- pool [--transfers N] [--senders N] [--request N]`
 *
 * Fills the pool with transfers, lists them and forges them again. Signatures count as valid without
 * verification, to measure the cost of a transfer in the consensus thread without its signature. Then measures the longest
 * ticks of the event loop while a full pool follows the chain.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addressOf, applyTransaction, createDraft, createMemoryState } from "@uniknode/ledger";
import {
  builders,
  bytesToHex,
  createNetwork,
  keysFromPassphrase,
  livenet,
  signTransaction,
  transactionFromJson,
  transactionToJson,
} from "@uniknode/protocol";
import { present } from "../packages/node/src/platform/present.ts";
import { Pool } from "../packages/node/src/pool/pool.ts";
import { DEFAULT_POOL_OPTIONS } from "../packages/node/src/pool/pool-options.ts";
import { openDatabase } from "../packages/node/src/store/engine/database.ts";
import { migrate } from "../packages/node/src/store/engine/migrations.ts";
import { createPoolStore } from "../packages/node/src/store/node/pool.ts";
import { verificationBy } from "../packages/node/test-support/pool/verification.ts";
import { readArguments } from "../tools/arguments.ts";
import { measureRechecks } from "./pool/rechecks.ts";

const { values } = readArguments("bench pool", {
  options: {
    transfers: { type: "string", default: "15000" },
    senders: { type: "string", default: "50" },
    request: { type: "string", default: "40" },
  },
});
const transfers = Number(values.transfers);
const senderCount = Number(values.senders);
const perRequest = Number(values.request);

/** Transfers in requests that are in progress: the pool refuses more than 10,000. */
const MAX_OPEN = 8_000;

const network = createNetwork(livenet);
const FEE = 10_000_000n;
let height = 1_000;
const head = () => ({ height, timestamp: height * 8 });

const state = createMemoryState();
const senders = Array.from({ length: senderCount }, (_, index) => {
  const keys = keysFromPassphrase(`sender ${index}`);
  const publicKey = bytesToHex(keys.publicKey);
  return { keys, publicKey, address: addressOf(publicKey, network) };
});
const funding = createDraft(state);
for (const { publicKey, address } of senders) {
  const wallet = { address, publicKey, balance: 10n ** 18n, nonce: 0n, attributes: {} };
  funding.set("wallets", address, wallet);
}
state.commit(funding.changes());

console.log(`signing ${transfers} transfers of ${senderCount} senders`);
const inputs = Array.from({ length: transfers }, (_, index) => {
  const { keys, publicKey, address } = present(senders[index % senderCount]);
  const nonce = BigInt(Math.floor(index / senderCount) + 1);
  const fee = FEE + BigInt((index * 7919) % 1000);
  const body = builders.transfer({
    network,
    senderPublicKey: publicKey,
    nonce,
    fee,
    recipientId: address,
    amount: 1n,
  });
  return transactionToJson(signTransaction(body, keys));
});

const folder = mkdtempSync(join(tmpdir(), "uniknode-bench-pool-"));
const database = openDatabase(join(folder, "node.sqlite"));
migrate(database);
const openPool = () =>
  new Pool(
    { ...DEFAULT_POOL_OPTIONS, poolMaxPerSender: transfers },
    {
      network,
      state,
      head,
      now: () => head().timestamp,
      storedIds: () => new Set(),
      store: createPoolStore(database),
      ...verificationBy(network, async (checks) => checks.map(() => true)),
      emit: () => {},
    },
  );

async function measure(what: string, units: number, work: () => unknown): Promise<void> {
  const start = performance.now();
  const used = process.cpuUsage();
  await work();
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(used);
  const each = (us: number) => `${(us / units).toFixed(1)} us each`;
  console.log(`${what}: ${ms.toFixed(1)} ms, ${each(ms * 1000)}, ${each(user + system)} of CPU time`);
}

await measure("reading and checking the schema alone", transfers, () => {
  const context = { network, height };
  for (const input of inputs) transactionFromJson(input, context, { checkSignature: false });
});
let pool = openPool();
await measure("admission", transfers, async () => {
  for (let from = 0; from < transfers; from += MAX_OPEN) {
    const open = inputs.slice(from, from + MAX_OPEN);
    const starts = Array.from(
      { length: Math.ceil(open.length / perRequest) },
      (_, index) => index * perRequest,
    );
    await Promise.all(starts.map((at) => pool.submit(open.slice(at, at + perRequest))));
  }
});
if (pool.size() !== transfers)
  throw new Error(`the pool accepted only ${pool.size()} of ${transfers} transfers`);

await measure("listing everything", transfers, () => pool.inForgingOrder());
await measure("listing 100", 100, () => pool.inForgingOrder(100));
await pool.close();
await measure("restart", transfers, () => {
  pool = openPool();
});

const selected = pool.select({ maxTransactions: 500, maxBytes: 2_000_000 });
await measure("selecting 500", 500, () => pool.select({ maxTransactions: 500, maxBytes: 2_000_000 }));
const draft = createDraft(state);
const context = { network, milestone: network.milestoneAt(height), head: head(), state: draft, draft };
for (const { data } of selected) applyTransaction(data, context);
state.commit(draft.changes());
height++;
const addresses = new Set(senders.map(({ address }) => address));
await measure("following a block of 500", 500, () => pool.blockApplied(selected, addresses));
await measure("following an empty block", 1, () => {
  height++;
  pool.blockApplied([], new Set());
});
await measure("following a revert of 500", transfers, () => pool.blocksReverted(selected));

await pool.close();
database.close();
await measureRechecks((name) => join(folder, `${name}.sqlite`));
rmSync(folder, { recursive: true });
