/** Delegates as they were when their round began: the content of `forger.missing`, as the old node sends it (events.md 3.1). */
import type { Change, StateReader, Wallet } from "@uniknode/ledger";
import { addressFromPublicKey, type BlockHeader, type Network, type Rounds } from "@uniknode/protocol";
import { present } from "../../platform/present.ts";
import { withHoldings } from "../../store/state/holdings.ts";
import type { ChainStores } from "../stores.ts";

export type RoundStartDeps = {
  readonly network: Network;
  readonly rounds: Rounds;
  readonly stores: Pick<ChainStores, "blocks" | "state" | "undo">;
};

/** A block whose changes may not be committed yet. */
type Executed = { readonly block: { readonly header: BlockHeader }; readonly changes: readonly Change[] };

/**
 * Returns a delegate of the round of the last executed block, with its holdings, as it was when the round began. The changes since
 * then are undone once in each round: 20 to 40 ms for 23 full blocks. Far below the network, where blocks have no undo records
 * (decision 58), the delegate is returned as it is.
 */
export type RoundStart = (delegate: Wallet, executed: readonly Executed[]) => Wallet;

export function createRoundStart({ network, rounds, stores }: RoundStartDeps): RoundStart {
  const { blocks, state, undo } = stores;
  /** `id` is that of the block that opened the round. */
  let known: { readonly id: string; readonly delegates: ReadonlyMap<string, Wallet> } | undefined;

  const executedAt = (height: number, executed: readonly Executed[]) =>
    executed.find(({ block }) => block.header.height === height);

  /** Returns a reader of the state after the block at `base`; undefined if an undo record is missing. */
  function readAfter(base: number, executed: readonly Executed[]): Pick<StateReader, "get"> | undefined {
    const before = new Map<string, unknown>();
    for (let height = headOf(executed).height; height > base; height--) {
      const changes = executedAt(height, executed)?.changes.map(({ before: after, ...row }) => ({
        ...row,
        after,
      }));
      const writes = changes ?? undo.read(height);
      if (!writes) return undefined;
      for (const { table, key, after } of writes) before.set(`${table} ${key}`, after);
    }
    return {
      get(table, key) {
        const name = `${table} ${key}`;
        return before.has(name)
          ? (before.get(name) as ReturnType<typeof state.get<typeof table>>)
          : state.get(table, key);
      },
    };
  }

  function delegatesAfter(base: number, executed: readonly Executed[]): ReadonlyMap<string, Wallet> {
    const reader = readAfter(base, executed) ?? state;
    const { round } = rounds.roundAt(base + 1);
    const keys = state.get("rounds", String(round))?.delegates ?? [];
    const delegates = keys.map(({ publicKey }) => {
      const address = addressFromPublicKey(publicKey, network.description.pubKeyHash);
      return [address, withHoldings(reader, present(reader.get("wallets", address)))] as const;
    });
    return new Map(delegates);
  }

  return (delegate, executed) => {
    // The first round begins with the genesis block.
    const base = Math.max(rounds.roundAt(headOf(executed).height).roundHeight - 1, 1);
    const { id } = executedAt(base, executed)?.block.header ?? present(blocks.header(base));
    if (known?.id !== id) known = { id, delegates: delegatesAfter(base, executed) };
    // A block must not fail for the content of an event.
    return known.delegates.get(delegate.address) ?? withHoldings(state, delegate);
  };
}

const headOf = (executed: readonly Executed[]): BlockHeader => present(executed.at(-1)).block.header;
