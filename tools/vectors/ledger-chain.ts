/** Complete chains, block by block and back again, and single candidate blocks on top of one. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import {
  applyGenesis,
  type Change,
  createDraft,
  createMemoryState,
  createRepetitions,
  type JudgeContext,
  judgeBlock,
  type MemoryState,
  type Repetitions,
  type StateReader,
  type Verdict,
  type Wallet,
} from "@uniknode/ledger";
import {
  type Block,
  type BlockFault,
  blockFromBytes,
  bytesToHex,
  checkBlock,
  createNetwork,
  createRounds,
  createSlots,
  genesisBlockFromJson,
  hexToBytes,
  type Network,
} from "@uniknode/protocol";
import { present } from "../../packages/node/src/platform/present.ts";
import {
  compareWallet,
  imageOf,
  type NftJson,
  nftOf,
  type WalletJson,
  walletToJson,
} from "./ledger-state.ts";
import { eachCase, type Runner, type VectorCase } from "./vector.ts";

// biome-ignore lint/suspicious/noExplicitAny: see Runner
type Content = any;

/** A chain under way: its state, and everything needed to go back. */
function createChain({ network: files, genesis }: Content) {
  const network = createNetwork(files);
  const state = createMemoryState();
  const rounds = createRounds(network);
  const slots = createSlots(network);
  const draft = createDraft(state);
  const blocks: Block[] = [genesisBlockFromJson(genesis, network)];
  applyGenesis(draft, network, present(blocks[0]));
  state.commit(draft.changes());
  const undo: { changes: readonly Change[]; before: string }[] = [];
  const head = () => present(blocks.at(-1)).header;

  const context = (repetitions: Repetitions): JudgeContext => ({
    network,
    rounds,
    slots,
    head: head(),
    draft: createDraft(state),
    isBlockStored: (id) => blocks.some(({ header }) => header.id === id),
    isTransactionStored: (id) =>
      blocks.some(({ transactions }) => transactions.some(({ data }) => data.id === id)),
    repetitions,
  });

  const parse = (serialized: string): Block =>
    blockFromBytes(hexToBytes(serialized), { network, height: head().height });

  /** Checks and judges a block, and commits it if the verdict is Accepted. `now` is Unix time in milliseconds. */
  function submit(block: Block, now: number, repetitions = createRepetitions()) {
    const faults = checkBlock(block, { network, now });
    const judging = context(repetitions);
    const verdict = judgeBlock(judging, block, faults);
    if (verdict.kind === "Accepted") {
      undo.push({ changes: verdict.changes, before: imageOf(state) });
      state.commit(verdict.changes);
      blocks.push(block);
    } else assert.deepEqual(judging.draft.changes(), [], "a block that is not accepted leaves no trace");
    return { verdict, faults };
  }

  function revert(): void {
    const { changes, before } = present(undo.pop());
    state.revert(changes);
    blocks.pop();
    assert.equal(imageOf(state), before, `reverting to ${head().height} gives the state before`);
  }

  return { network, state, slots, head, parse, submit, revert };
}

/** Later than every block of the vectors except the block that is too early, whose timestamp is in 2155. */
const LATE = Date.parse("2100-01-01T00:00:00Z");

export const chainReplay: Runner = (content) => {
  const chain = createChain(content);
  const expected = { wallets: { ...content.initial.wallets }, nfts: {} };
  const replayed = content.blocks.map(
    ({ height, serialized, id, expected: changed }: Content): VectorCase => ({
      name: `block ${height}`,
      run() {
        const block = chain.parse(serialized);
        assert.equal(block.header.id, id);
        const { verdict } = chain.submit(block, LATE);
        assert.equal(verdict.kind, "Accepted", reasonOf(verdict));
        Object.assign(expected.wallets, changed.wallets);
        Object.assign(expected.nfts, changed.nfts);
        compareState(chain.state, expected);
        if (changed.newRound) compareRound(chain.state, changed.newRound);
      },
    }),
  );
  return [
    {
      name: "genesis block",
      run() {
        compareState(chain.state, expected);
        const { round, order } = content.initial.round;
        assert.deepEqual(present(chain.state.get("rounds", String(round))).order, order);
      },
    },
    ...replayed,
    {
      name: "back to the genesis block",
      run() {
        while (chain.head().height > 1) chain.revert();
        compareState(chain.state, { wallets: content.initial.wallets, nfts: {} });
      },
    },
  ];
};

const reasonOf = (verdict: Verdict): string =>
  verdict.kind === "Rejected" ? `${verdict.reason} ${verdict.cause ?? ""}` : verdict.kind;

/** Vectors omit the attributes of a ranking, and shorten the last block. */
function comparable(state: StateReader, wallet: Wallet): WalletJson {
  const json = walletToJson(state, wallet);
  if (json.attributes.delegate) {
    const { rank: _rank, round: _round, lastBlock, ...delegate } = json.attributes.delegate;
    const last = lastBlock && { lastBlock: { height: lastBlock.height, id: lastBlock.id } };
    json.attributes.delegate = { ...delegate, ...last };
  }
  return json;
}

export function compareState(
  state: MemoryState,
  expected: { wallets: Record<string, WalletJson>; nfts: Record<string, NftJson> },
): void {
  const wallets = Object.fromEntries(
    state.entries("wallets").map(([key, wallet]) => [key, comparable(state, wallet)]),
  );
  for (const address of new Set([...Object.keys(wallets), ...Object.keys(expected.wallets)])) {
    compareWallet(wallets[address], expected.wallets[address], address);
  }
  const ids = new Set([...Object.keys(expected.nfts), ...state.entries("tokens").map(([id]) => id)]);
  for (const id of ids) assert.deepEqual(nftOf(state, id), expected.nfts[id] ?? null, `token ${id}`);
}

export function compareRound(state: MemoryState, { round, ranking, order, saved }: Content): void {
  const record = present(state.get("rounds", String(round)));
  const ranked = [...state.delegates()]
    .map((address) => present(state.get("wallets", address)))
    .filter(({ attributes }) => present(attributes.delegate).rank !== undefined)
    .sort(
      (a, b) => present(present(a.attributes.delegate).rank) - present(present(b.attributes.delegate).rank),
    );
  assert.deepEqual(
    ranked.map(({ publicKey }) => publicKey),
    ranking,
  );
  assert.deepEqual(record.order, order);
  const balances = record.delegates.map(({ publicKey, voteBalance }) => [publicKey, `${voteBalance}`]);
  assert.deepEqual(Object.fromEntries(balances), saved);
}

const RESULTS: Readonly<Record<Verdict["kind"], string>> = {
  Accepted: "Accepted",
  Rejected: "Rejected",
  Discarded: "DiscardedButCanBeBroadcasted",
  Rollback: "Rollback",
};

/** The chain of the name up to a height, replayed anew for every case: accepted candidates change it. */
function chainUpTo(name: string, height: number) {
  const url = new URL(`../../test/vectors/state/${name}.json`, import.meta.url);
  const content = JSON.parse(readFileSync(url, "utf8"));
  const chain = createChain(content);
  for (const { serialized } of content.blocks.slice(0, height - 1)) {
    assert.equal(chain.submit(chain.parse(serialized), LATE).verdict.kind, "Accepted");
  }
  return chain;
}

export const blockProcessing = eachCase(({ chain: name, height, block: input, repeat, expected }) => {
  const chain = chainUpTo(name, height);
  const block = chain.parse(input.serialized);
  const repetitions = createRepetitions();
  const before = imageOf(chain.state);
  const outcomes = Array.from({ length: repeat ?? 1 }, () => chain.submit(block, LATE, repetitions));
  const results = outcomes.map(({ verdict }) => RESULTS[verdict.kind]);
  assert.deepEqual(repeat ? results : results[0], expected.result);
  if (expected.verificationErrors) {
    const texts = present(outcomes[0]).faults.map((fault) => textOf(fault, block, chain.network));
    assert.deepEqual(texts, expected.verificationErrors);
  }
  if (results[0] !== "Accepted") assert.equal(imageOf(chain.state), before);
});

/** The text that the old network has for a fault. */
function textOf(fault: BlockFault, block: Block, network: Network): string {
  const { header, transactions } = block;
  const transaction = transactions[fault.sequence ?? 0];
  const texts: Partial<Record<BlockFault["code"], string | undefined>> = {
    reward: `Invalid block reward: ${header.reward} expected: ${network.milestoneAt(header.height).reward}`,
    signature: "Failed to verify block signature",
    version: "Invalid block version",
    timestamp: "Invalid block timestamp",
    "unverified-transactions": "One or more transactions are not verified:",
    "unverified-transaction": transaction && `=> ${bytesToHex(transaction.bytes)}`,
    "transaction-count": "Invalid number of transactions",
    "too-many-transactions": "Transactions length is too high",
    "duplicate-transaction": `Encountered duplicate transaction: ${fault.transactionId}`,
    "expired-transaction": `Encountered expired transaction: ${fault.transactionId}`,
    "future-transaction": `Encountered future transaction: ${fault.transactionId}`,
    "total-amount": "Invalid total amount",
    "total-fee": "Invalid total fee",
    "payload-hash": "Invalid payload hash",
  };
  return texts[fault.code] ?? fault.code;
}
