/** Forging as a whole: the forger, the record of its slots, and what the chain shows of those that went by. */
import type { Rounds } from "@uniknode/ledger";
import { type BlockHeader, forgeBlock, type Network } from "@uniknode/protocol";
import type { Chain } from "../chain/chain.ts";
import type { Database } from "../store/database.ts";
import { createSlotStore } from "../store/slots.ts";
import { createForger, type Forger, type ForgerDeps, type ForgerOptions } from "./forger.ts";
import { createGaps } from "./gaps.ts";
import { createTally, type Tally } from "./tally.ts";

export type ForgingDeps = Omit<ForgerDeps, "slotStore" | "head" | "forgingOrder" | "build"> & {
  readonly database: Database;
  readonly network: Network;
  readonly rounds: Rounds;
  readonly chain: Pick<Chain, "state" | "head" | "blocks">;
};

export type Forging = {
  readonly forger: Forger;
  /** Slots since the process started. */
  readonly tally: Tally["read"];
  /** To be told of every block that became the head. */
  blockApplied(header: BlockHeader): void;
};

export function createForging(options: ForgerOptions, deps: ForgingDeps): Forging {
  const { database, network, slots, rounds, chain, delegates, nowMs, logger } = deps;
  const slotStore = createSlotStore(database);
  const tally = createTally(slotStore);
  const roundOf = (height: number) => chain.state.get("rounds", String(rounds.roundAt(height).round));
  const forger = createForger(options, {
    ...deps,
    slotStore: tally.slotStore,
    head: chain.head,
    forgingOrder: () => roundOf(chain.head().height + 1)?.order ?? [],
    build: ({ slot, transactions, keys }) =>
      forgeBlock({ network, timestamp: slots.slotTime(slot), previous: chain.head(), transactions }, keys),
    onStarted(publicKeys) {
      logger.info({ delegates: publicKeys }, "forger started");
      deps.onStarted(publicKeys);
    },
    onForged(block) {
      tally.forged();
      const { height, id, timestamp, generatorPublicKey } = block.header;
      const forged = { height, id, slot: slots.slotAt(timestamp), publicKey: generatorPublicKey };
      logger.info({ ...forged, transactions: block.transactions.length }, "block forged");
      deps.onForged(block);
    },
  });
  const lookForGaps = createGaps({
    isOurs: (publicKey) => delegates.has(publicKey),
    slots,
    slotStore,
    headerAt: chain.blocks.header,
    roundOf,
    nowMs,
  });
  return {
    forger,
    tally: tally.read,
    blockApplied(header) {
      if (delegates.size > 0) lookForGaps(header);
    },
  };
}
