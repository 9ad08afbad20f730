/** Handlers of the requests of a separate forger (p2p.md 9, forger.md 3). */
import type { StateReader, Wallet } from "@uniknode/ledger";
import {
  addressFromPublicKey,
  type BlockHeader,
  bytesToHex,
  headerToJson,
  type Network,
  type Rounds,
  type SealedTransaction,
  type Slots,
} from "@uniknode/protocol";
import { walletData } from "../../events/content.ts";
import { canForge, networkTiming } from "../../forger/slot-state.ts";
import { withHoldings } from "../../store/state/holdings.ts";
import type { CurrentRound, ForgerWallet, ResultOf } from "../wire/events.ts";

export type ForgerHandlersDeps = {
  readonly network: Network;
  readonly slots: Slots;
  readonly rounds: Rounds;
  readonly state: StateReader;
  readonly head: () => BlockHeader;
  readonly nowMs: () => number;
  readonly pool: {
    readonly size: () => number;
    /** Transactions for the next block. */
    readonly select: () => SealedTransaction[];
  };
};

export type ForgerHandlers = {
  getCurrentRound(): CurrentRound;
  getUnconfirmedTransactions(): ResultOf<"p2p.internal.getUnconfirmedTransactions">;
};

export function createForgerHandlers(deps: ForgerHandlersDeps): ForgerHandlers {
  const { network, slots, rounds, state, head, nowMs, pool } = deps;

  function getWallet(publicKey: string): ForgerWallet {
    const address = addressFromPublicKey(publicKey, network.description.pubKeyHash);
    const wallet: Wallet = state.get("wallets", address) ?? {
      address,
      publicKey,
      balance: 0n,
      nonce: 0n,
      attributes: {},
    };
    const { balance, nonce, attributes } = walletData(withHoldings(state, wallet));
    return {
      address,
      balance: String(balance),
      nonce: String(nonce),
      attributes: attributes as Record<string, unknown>,
      publicKey,
    };
  }

  return {
    getCurrentRound() {
      const last = head();
      const height = last.height + 1;
      const { round } = rounds.roundAt(height);
      const slot = slots.slotAt(slots.timeAt(nowMs()));
      const delegates = (state.get("rounds", String(round))?.order ?? []).map(getWallet);
      const index = slot % delegates.length;
      const [currentForger, nextForger] = [delegates[index], delegates[index + 1]];
      return {
        current: round,
        reward: network.milestoneAt(height).reward,
        timestamp: slots.slotTime(slot),
        delegates,
        ...(currentForger && { currentForger }),
        ...(nextForger && { nextForger }),
        lastBlock: headerToJson(last),
        canForge: canForge(
          slots.timeAt(nowMs()),
          slots.slotAt(last.timestamp),
          slots,
          networkTiming(slots.blocktime),
        ),
      };
    },
    getUnconfirmedTransactions() {
      const transactions = pool.select().map(({ bytes }) => bytesToHex(bytes));
      return { transactions, poolSize: pool.size() };
    },
  };
}
