/** Longest ticks of the event loop while a full pool follows the chain. */
import { setImmediate as nextTick } from "node:timers/promises";
import { addressOf, applyTransaction, createDraft, createMemoryState } from "@uniknode/ledger";
import {
  builders,
  bytesToHex,
  createNetwork,
  encodeTransaction,
  keysFromPassphrase,
  livenet,
  type Network,
  type SealedTransaction,
  signTransaction,
  type TransactionBody,
  transactionId,
} from "@uniknode/protocol";
import { present } from "../../packages/node/src/platform/present.ts";
import { Pool } from "../../packages/node/src/pool/pool.ts";
import { DEFAULT_POOL_OPTIONS } from "../../packages/node/src/pool/pool-options.ts";
import { type Database, openDatabase } from "../../packages/node/src/store/engine/database.ts";
import { migrate } from "../../packages/node/src/store/engine/migrations.ts";
import { createPoolStore } from "../../packages/node/src/store/node/pool.ts";
import { verificationBy } from "../../packages/node/test-support/pool/verification.ts";

const RUNS = 5;
const SENDERS = 50;
const BLOCK = { maxTransactions: 500, maxBytes: 20_000_000 };
/** Height of the milestone. */
const CHANGE = 5_000_000;
const network = createNetwork({
  ...livenet,
  milestones: [...livenet.milestones, { height: CHANGE, vendorFieldLength: 255 }],
});

const senders = Array.from({ length: SENDERS }, (_, index) => {
  const keys = keysFromPassphrase(`sender ${index}`);
  const publicKey = bytesToHex(keys.publicKey);
  return { keys, publicKey, address: addressOf(publicKey, network) };
});
const addresses = new Set(senders.map(({ address }) => address));

type Envelope = {
  readonly network: Network;
  readonly senderPublicKey: string;
  readonly nonce: bigint;
  readonly fee: bigint;
};

/** Pool with `count` transactions of the senders in turn. Their signatures are not checked. */
function openFull(folder: string, count: number, toBody: (envelope: Envelope) => TransactionBody) {
  const database = openDatabase(folder);
  migrate(database);
  const store = createPoolStore(database);
  const first = present(senders[0]);
  const sign = (body: TransactionBody) => signTransaction(body, first.keys).signature;
  let signature: string | undefined;
  const added = Array.from({ length: count }, (_, index) => {
    const nonce = BigInt(Math.floor(index / SENDERS) + 1);
    const fee = 1_000_000_000n + BigInt((index * 7919) % 1000);
    const { publicKey } = present(senders[index % SENDERS]);
    const body = toBody({ network, senderPublicKey: publicKey, nonce, fee });
    signature ??= sign(body);
    const signed = { ...body, ...(signature !== undefined && { signature }) };
    return { id: transactionId(signed), bytes: encodeTransaction(signed) };
  });
  store.write({ added, removed: [] });
  const chain = createChain();
  const pool = new Pool(
    { ...DEFAULT_POOL_OPTIONS, poolMaxPerSender: count },
    {
      network,
      state: chain.state,
      head: chain.head,
      now: () => chain.head().timestamp,
      storedIds: () => new Set(),
      store,
      ...verificationBy(network, async (checks) => checks.map(() => true)),
      emit: () => {},
    },
  );
  if (pool.size() !== count) throw new Error(`the pool has ${pool.size()} of ${count} transactions`);
  return { database, chain, pool };
}

function createChain() {
  const state = createMemoryState();
  const funding = createDraft(state);
  for (const { publicKey, address } of senders) {
    funding.set("wallets", address, { address, publicKey, balance: 10n ** 18n, nonce: 0n, attributes: {} });
  }
  state.commit(funding.changes());
  let height = CHANGE - 1_000;
  const head = () => ({ height, timestamp: height * 8 });
  return {
    state,
    head,
    moveTo(target: number) {
      height = target;
    },
    /** Applies a block, and returns a function that reverts it. */
    append(transactions: readonly SealedTransaction[]): () => void {
      const draft = createDraft(state);
      const milestone = network.milestoneAt(height);
      for (const { data } of transactions) {
        applyTransaction(data, { network, milestone, head: head(), state: draft, draft });
      }
      const changes = draft.changes();
      state.commit(changes);
      height++;
      return () => {
        state.revert(changes);
        height--;
      };
    },
  };
}

type Measured = { readonly longestMs: number; readonly totalMs: number };

/** CPU time of this thread: other load of the machine does not count. */
function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Runs a change, and measures until the pool is idle. */
async function measure(pool: Pool, change: () => void): Promise<Measured> {
  await nextTick();
  const startMs = usedMs();
  let [lastMs, longestMs, totalMs] = [startMs, 0, 0];
  change();
  // The journal writes in a later tick.
  for (let idle = 0; idle < 5; idle++) {
    await nextTick();
    const nowMs = usedMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    totalMs = nowMs - startMs;
    lastMs = nowMs;
    if (pool.figures().poolUnchecked > 0) idle = -1;
  }
  return { longestMs, totalMs };
}

function print(what: string, runs: readonly Measured[]): void {
  const median = (member: keyof Measured) =>
    present(runs.map((run) => run[member]).toSorted((a, b) => a - b)[RUNS >> 1]).toFixed(1);
  const all = runs.map(({ longestMs }) => longestMs.toFixed(1)).join(", ");
  console.log(`${what}: longest tick ${median("longestMs")} ms (${all}), in total ${median("totalMs")} ms`);
}

/** Medians of five runs. */
async function measureBlocks(path: string, transfers: number): Promise<Database> {
  const { database, chain, pool } = openFull(path, transfers, (envelope) =>
    builders.transfer({ ...envelope, recipientId: present(senders[0]).address, amount: 1n }),
  );
  const [empty, applied, reverted]: [Measured[], Measured[], Measured[]] = [[], [], []];
  for (let run = 0; run < RUNS; run++) {
    const block = pool.select(BLOCK);
    const revert = chain.append(block);
    applied.push(await measure(pool, () => pool.blockApplied(block, addresses)));
    empty.push(await measure(pool, () => pool.blockApplied([], new Set())));
    revert();
    reverted.push(await measure(pool, () => pool.blocksReverted(block)));
  }
  print(`an empty block, ${transfers} transfers pending`, empty);
  print("a block of 500 that changes all senders", applied);
  print("a revert of that block", reverted);
  await pool.close();
  return database;
}

async function measureMilestone(path: string, payments: number): Promise<Database> {
  const recipients = Array.from({ length: 128 }, (_, index) => ({
    recipientId: addressOf(bytesToHex(keysFromPassphrase(`recipient ${index}`).publicKey), network),
    amount: 1n,
  }));
  const { database, chain, pool } = openFull(path, payments, (envelope) =>
    builders.multiPayment({ ...envelope, payments: recipients }),
  );
  const runs: Measured[] = [];
  for (let run = 0; run < RUNS; run++) {
    chain.moveTo(run % 2 === 0 ? CHANGE : CHANGE - 1);
    runs.push(await measure(pool, () => pool.blockApplied([], new Set())));
  }
  print(`a milestone, ${payments} payments to 128 recipients pending`, runs);
  await pool.close();
  return database;
}

/** @param toPath path of a database that does not exist yet, by its name */
export async function measureRechecks(toPath: (name: string) => string): Promise<void> {
  (await measureBlocks(toPath("transfers"), 15_000)).close();
  (await measureMilestone(toPath("payments"), 8_000)).close();
}
