/** One transaction on a small state: refused as described, or applied with the described effects, and reverted. */
import assert from "node:assert/strict";
import { applyTransaction, createDraft, type MemoryState, RuleError, recordUses } from "@uniknode/ledger";
import { createNetwork, hexToBytes, type Network, sealedFromTrustedBytes } from "@uniknode/protocol";
import {
  compareWallet,
  imageOf,
  memoryOf,
  type NftJson,
  nftOf,
  type WalletJson,
  walletToJson,
} from "./ledger-state.ts";
import { eachCase } from "./vector.ts";

// biome-ignore lint/suspicious/noExplicitAny: see Runner
type Content = any;

/** Entries of the patch replace entries of the base; `null` removes them. */
const patched = <T>(base: Record<string, T>, patch: Record<string, T | null> = {}): Record<string, T> =>
  Object.fromEntries(
    Object.entries({ ...base, ...patch }).filter((entry): entry is [string, T] => entry[1] !== null),
  );

/** The state a case starts from; the transactions of the patch are stored ones. */
export function startingState(baseState: Content, patch: Content = {}): MemoryState {
  const byAddress = (wallets: WalletJson[]) => Object.fromEntries(wallets.map((w) => [w.address, w]));
  const wallets = patched<WalletJson>(byAddress(baseState.wallets), patch.wallets);
  const { state, draft } = memoryOf(Object.values(wallets), patched<NftJson>(baseState.nfts, patch.nfts));
  const stored = [...baseState.transactions, ...(patch.transactions ?? [])];
  recordUses(
    draft,
    stored.map(({ serialized }) => sealedFromTrustedBytes(hexToBytes(serialized))),
  );
  state.commit(draft.changes());
  return state;
}

export function networkOfCase({ base, transactionsConfigByName }: Content, name: string): Network {
  const transactionsConfig = transactionsConfigByName[name];
  return createNetwork({ ...base, network: { ...base.network, transactionsConfig } });
}

export const transactionApply = eachCase((testCase, { networks, baseState }) => {
  const { lastHeight, lastBlockTimestamp, statePatch, transaction, expected } = testCase;
  const network = networkOfCase(networks, testCase.network);
  const state = startingState(baseState, statePatch);
  const before = imageOf(state);
  const draft = createDraft(state);
  const { data } = sealedFromTrustedBytes(hexToBytes(transaction.serialized));
  const apply = () =>
    applyTransaction(data, {
      network,
      milestone: network.milestoneAt(lastHeight),
      head: { height: lastHeight, timestamp: lastBlockTimestamp },
      state: draft,
      draft,
    });
  if (expected.error) {
    assert.throws(apply, (error) => {
      if (expected.error.internal) return true;
      assert.ok(error instanceof RuleError, `${error}`);
      const { name, message } = expected.error;
      assert.deepEqual({ name: error.code, message: error.message }, { name, message });
      return true;
    });
    assert.deepEqual(draft.changes(), [], "a refusal leaves no trace");
    return;
  }
  apply();
  const changes = draft.changes();
  state.commit(changes);
  compareWallets(state, baseState, statePatch, expected.wallets);
  compareTokens(state, baseState, statePatch, expected.nfts);
  state.revert(changes);
  assert.equal(imageOf(state), before, "reverting gives the state before");
});

/** Wallets that are not listed as changed must be as they were. */
function compareWallets(state: MemoryState, baseState: Content, patch: Content, listed: Content): void {
  const base = Object.fromEntries(baseState.wallets.map((wallet: WalletJson) => [wallet.address, wallet]));
  const expected = { ...patched<WalletJson>(base, patch?.wallets), ...listed };
  const actual = Object.fromEntries(
    state.entries("wallets").map(([address, wallet]) => [address, walletToJson(state, wallet)]),
  );
  for (const address of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    compareWallet(actual[address], expected[address], address);
  }
}

function compareTokens(state: MemoryState, baseState: Content, patch: Content, listed: Content): void {
  const expected = { ...patched<NftJson>(baseState.nfts, patch?.nfts), ...listed };
  const ids = new Set([...Object.keys(expected), ...state.entries("tokens").map(([id]) => id)]);
  for (const id of ids) assert.deepEqual(nftOf(state, id), expected[id] ?? null, `token ${id}`);
}
