/** Chain that consists of a state, a head and stored ids, and a pool on it. */
import {
  addressOf,
  applyTransaction,
  type Change,
  createDraft,
  createMemoryState,
  type ShownAttributes,
  type Wallet,
  walletOf,
} from "@uniknode/ledger";
import {
  builders,
  bytesToHex,
  createNetwork,
  type KeyPair,
  keysFromPassphrase,
  type MilestoneChange,
  type Network,
  type SealedTransaction,
  sealedFromTrustedBytes,
  signTransaction,
  type Transaction,
  type TransactionBody,
  transactionToJson,
  unitnet,
} from "@uniknode/protocol";
import { present } from "../../src/platform/present.ts";
import type { PoolEvent } from "../../src/pool/events.ts";
import { Pool, type PoolDeps } from "../../src/pool/pool.ts";
import { DEFAULT_POOL_OPTIONS, type PoolOptions } from "../../src/pool/pool-options.ts";
import { withHoldings } from "../../src/store/state/holdings.ts";
import { BatchVerifier } from "../../src/verification/verifier.ts";
import { type ShownWallet, walletWrites } from "../store/holdings.ts";
import { verificationBy } from "./verification.ts";

const [genesisMilestone] = unitnet.milestones;

/** Activates everything from height 1 on; further milestones change it. */
export const networkWith = (
  milestones: readonly MilestoneChange[] = [],
  members: Readonly<Record<string, unknown>> = {},
): Network =>
  createNetwork({
    ...unitnet,
    milestones: [
      { ...present(genesisMilestone), vendorFieldLength: 255, ...members, height: 1 },
      ...milestones,
    ],
  });

export const NETWORK = networkWith();

const keys = new Map<string, KeyPair>();

/** Keys by the name of their owner. */
export function keysOf(name: string): KeyPair {
  const made = keys.get(name) ?? keysFromPassphrase(name);
  keys.set(name, made);
  return made;
}

export const publicKeyOf = (name: string): string => bytesToHex(keysOf(name).publicKey);
export const addressNamed = (name: string): string => addressOf(publicKeyOf(name), NETWORK);

/** Fee that suffices for every type except delegate registration. */
export const FEE = 1_000_000n;

/** Input of a builder besides the members of its type. */
export const envelope = (name: string, nonce: number, fee: bigint = FEE) => ({
  network: NETWORK,
  senderPublicKey: publicKeyOf(name),
  nonce: BigInt(nonce),
  fee,
});

/** Transaction as it is submitted. */
export type Json = Record<string, unknown> & { id: string };

export const jsonOf = (transaction: Transaction): Json => transactionToJson(transaction) as Json;

export const signedBy = (name: string, body: TransactionBody): Json =>
  jsonOf(signTransaction(body, keysOf(name)));

type TransferMembers = {
  fee?: bigint;
  amount?: bigint;
  expiration?: number;
  vendorField?: string;
  to?: string;
};

export function transfer(name: string, nonce: number, members: TransferMembers = {}): Json {
  const { fee = FEE, amount = 1n, to = "unknown", ...others } = members;
  const body = builders.transfer({
    ...envelope(name, nonce, fee),
    recipientId: addressNamed(to),
    amount,
    ...others,
  });
  return signedBy(name, body);
}

export type TestChain = ReturnType<typeof createTestChain>;

/** Chain at height 10, with the wallets of the actors; the others have nothing. */
export function createTestChain(
  actors: Readonly<Record<string, Partial<ShownWallet>>>,
  network: Network = NETWORK,
) {
  const state = createMemoryState();
  const blocks: { transactions: readonly SealedTransaction[]; changes: readonly Change[] }[] = [];
  const stored = new Set<string>();
  let height = 10;

  /** Changes wallets without a transaction. */
  function fund(wallets: Readonly<Record<string, Partial<ShownWallet>>>): void {
    const draft = createDraft(state);
    for (const [name, members] of Object.entries(wallets)) {
      const wallet = walletOf(draft, publicKeyOf(name), network);
      const { attributes = withHoldings(draft, wallet).attributes as object as ShownAttributes } = members;
      for (const write of walletWrites({ ...wallet, ...members, attributes }))
        draft.set(write.table, write.key, write.after);
      if (attributes.delegate) draft.set("usernames", attributes.delegate.username, wallet.address);
    }
    state.commit(draft.changes());
  }

  const head = () => ({ height, timestamp: height * 8 });

  /** Applies as a block does, and commits. */
  function append(transactions: readonly SealedTransaction[] = []): ReadonlySet<string> {
    const draft = createDraft(state);
    const context = { network, milestone: network.milestoneAt(height), head: head(), state: draft, draft };
    for (const { data } of transactions) applyTransaction(data, context);
    const changes = draft.changes();
    state.commit(changes);
    blocks.push({ transactions, changes });
    for (const { data } of transactions) stored.add(data.id);
    height++;
    return new Set(changes.flatMap(({ table, key }) => (table === "wallets" ? [key] : [])));
  }

  /** Reverts the last block, and returns its transactions. */
  function revert(): readonly SealedTransaction[] {
    const { transactions, changes } = present(blocks.pop());
    state.revert(changes);
    for (const { data } of transactions) stored.delete(data.id);
    height--;
    // The chain passes them as read from the database.
    return transactions.map(({ data, bytes }) => sealedFromTrustedBytes(bytes, data.id));
  }

  fund(actors);
  return {
    network,
    state,
    head,
    fund,
    append,
    revert,
    storedIds: (ids: readonly string[]) => new Set(ids.filter((id) => stored.has(id))),
    blockCount: () => blocks.length,
    walletNamed: (name: string): Wallet => walletOf(state, publicKeyOf(name), network),
  };
}

export const RICH: Partial<ShownWallet> = { balance: 10n ** 12n };

const verifier = new BatchVerifier({ threads: 0 });

export type OpenPool = Pool & {
  readonly events: PoolEvent[];
  /** Applies a block with the pool's selection to chain and pool. */
  forge(): SealedTransaction[];
};

type Overrides = { options?: Partial<PoolOptions>; deps?: Partial<PoolDeps> };

/** Chain whose named wallets are rich. */
export const richChain = (...names: string[]): TestChain =>
  createTestChain(Object.fromEntries(names.map((name) => [name, RICH])));

/** Pool that writes nothing unless a store is given. */
export function openPool(chain: TestChain, { options, deps }: Overrides = {}): OpenPool {
  const events: PoolEvent[] = [];
  const { network, state, head, storedIds } = chain;
  const pool = new Pool(
    { ...DEFAULT_POOL_OPTIONS, ...options },
    {
      network,
      state,
      head,
      now: () => head().timestamp,
      storedIds,
      store: { load: () => [], write: (_, alongside) => alongside?.() },
      ...verificationBy(network, deps?.verify ?? ((checks) => verifier.verify(checks))),
      emit: (event) => void events.push(event),
      ...deps,
    },
  );
  return Object.assign(pool, {
    events,
    forge() {
      const selected = pool.select({ maxTransactions: 150, maxBytes: 1_000_000 });
      pool.blockApplied(selected, chain.append(selected));
      return selected;
    },
  });
}

/** Outcome of one transaction: the code of its refusal, or its list in the result. */
export async function submitOne(pool: Pool, transaction: unknown): Promise<string> {
  const { data, errors = {} } = await pool.submit([transaction]);
  const [reason] = Object.values(errors).flat();
  if (reason) return reason.type;
  if (data.excess.length > 0) return "excess";
  return data.accept.length > 0 ? "accepted" : "broadcast";
}

/** Text of the only refusal. */
export async function refusalOf(pool: Pool, transaction: unknown): Promise<string> {
  const { errors = {} } = await pool.submit([transaction]);
  const [{ type, message }] = Object.values(errors).flat() as [{ type: string; message: string }];
  return `${type} ${message}`;
}

export const idsOf = (transactions: Iterable<SealedTransaction>): string[] =>
  Array.from(transactions, ({ data }) => data.id);

/** Names and ids of the reported events, in order. */
export const reported = (events: readonly PoolEvent[]): string[] =>
  events.flatMap((event) => {
    if (event.name === "transaction.pool.added") {
      return idsOf(event.transactions).map((id) => `${event.name} ${id}`);
    }
    if (event.name === "transaction.pool.rejected") {
      return event.rejected.map(({ transaction, code }) => `${event.name} ${transaction.data.id} ${code}`);
    }
    return [`${event.name} ${event.transaction.data.id}`];
  });

/** Pool over a chain whose named wallets are rich. */
export const richPool = (...names: string[]): OpenPool => openPool(richChain(...names));
