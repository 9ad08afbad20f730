/** Blocks that others post, and those of this node's own forger (p2p.md 7.5 and 11). */
import { delegateOfSlot, isChained, type Rounds, type StateReader } from "@uniknode/ledger";
import {
  addressFromPublicKey,
  type Block,
  type BlockHeader,
  type EncodedBlock,
  isBlockException,
  type Network,
  payloadHashOf,
  type Slots,
  verifyHeaderJob,
} from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Chain } from "../../chain/chain.ts";
import { type Outcome, refusalOf } from "../../chain/outcome.ts";
import { type ReceivedBlock, receiveBlock } from "../../chain/pipeline/receive.ts";
import { headerCheck } from "../../chain/pipeline/verify.ts";
import { networkTiming } from "../../forger/timing.ts";
import { createWindowCounter } from "../guards/window.ts";
import { CallError, type Caller } from "../transport/handler.ts";
import { blockNotChained, tooManyTransactions } from "../wire/replies/write.ts";
import type { DoubleForging } from "./double-forging.ts";
import type { BlockObservations } from "./observations.ts";

export type InboundBlocksDeps = {
  readonly network: Network;
  readonly slots: Slots;
  readonly rounds: Rounds;
  readonly chain: Pick<Chain, "accept" | "head" | "state">;
  readonly observations: BlockObservations;
  readonly doubleForging: DoubleForging;
  /** Passes a block on. */
  readonly broadcast: (block: EncodedBlock) => void;
  /** Whether the node has been in step with the network since its start (p2p.md 11 point 4). */
  readonly isStarted: () => boolean;
  /** A block passed the first tests and goes to the chain. */
  readonly onReceived: (block: Block) => void;
  /** A block passed them too early, and goes nowhere. */
  readonly onDisregarded: (block: Block) => void;
  /** A peer knows more than this node does, or is on another branch. */
  readonly onUnchained: (header: BlockHeader, caller: Caller) => void;
  readonly ban: (address: string, reason: string) => void;
  readonly nowMs: () => number;
  readonly logger: Logger;
};

export type InboundBlocks = {
  /**
   * A block of somebody else; the answer comes before its fate is known.
   *
   * @throws {CallError} if it does not continue the chain
   * @throws {BlockError | TransactionError} if it cannot be read
   */
  post(bytes: Uint8Array, caller: Caller): Promise<void>;
  /** A block of this node's own forger. Settles with why it was not taken, if it was not. */
  submit(block: EncodedBlock): Promise<string | undefined>;
};

/**
 * Blocks of one delegate for one slot that go to the chain. He makes one; whoever has his keys may make many, all
 * signed and full, and each of them takes as long as a real one.
 */
const BLOCKS_PER_SLOT = { events: 3, windowMs: 600_000 };

export function createInboundBlocks(deps: InboundBlocksDeps): InboundBlocks {
  const { network, slots, chain, observations, logger } = deps;
  const taken = createWindowCounter(BLOCKS_PER_SLOT);
  /** The block that the chain is about to take: what follows may follow it. */
  let onItsWay: BlockHeader | undefined;

  /** A block of a separate forger that has less of its slot left is too late. */
  const { minRemainingMs } = networkTiming(slots.blocktime);
  const now = () => slots.timeAt(deps.nowMs());

  /** Called before any transaction is read: their number alone is a reason to refuse the block. */
  function checkCount(header: BlockHeader): void {
    const { maxTransactions } = network.milestoneAt(chain.head().height).block;
    if (header.numberOfTransactions > maxTransactions) throw new CallError(tooManyTransactions(header));
  }

  /** Whether it is the delegate of the slot who made the block: nobody else's can take the place of the real one. */
  function isInTurn({ timestamp, generatorPublicKey }: BlockHeader, below: BlockHeader): boolean {
    const { round } = deps.rounds.roundAt(below.height + 1);
    const order = orderOf(chain.state, round);
    return order === undefined || delegateOfSlot(order, slots.slotAt(timestamp)) === generatorPublicKey;
  }

  /** A node that was restarted may have another order than ours in some rounds (traps C1 and C2). */
  function isByDelegate({ generatorPublicKey }: BlockHeader): boolean {
    const address = addressFromPublicKey(generatorPublicKey, network.description.pubKeyHash);
    return chain.state.get("wallets", address)?.attributes.delegate !== undefined;
  }

  /** Its id is that of the header: with others, it would be taken for the real block when that one comes. */
  function hasItsTransactions({ header, transactions }: Block): boolean {
    const ids = transactions.map(({ data }) => data.id);
    return payloadHashOf(ids) === header.payloadHash || isBlockException(header.id, ids, network);
  }

  /** Steps 1 to 3 for a block that came from another node; false for one that needs no more. */
  function isWanted(block: ReceivedBlock, caller: Caller): boolean {
    const { header } = block;
    const head = onItsWay ?? chain.head();
    if (!caller.isTrusted && observations.count(header, performance.now())) return false;
    deps.doubleForging.look(header);
    if (!caller.isTrusted && !isChained(header, { head, slots })) {
      deps.onUnchained(header, caller);
      throw new CallError(blockNotChained(header.height, head.height));
    }
    const slot = slots.slotAt(header.timestamp);
    if (slot > slots.slotAt(now())) return false;
    if (caller.isTrusted) return slot === slots.slotAt(now()) && remainingMs(slot) >= minRemainingMs;
    const { height, id } = header;
    const isSigned = hasItsTransactions(block) && verifyHeaderJob(headerCheck(block)) === "valid";
    if (isSigned && isInTurn(header, head)) {
      return taken.take(`${header.generatorPublicKey} ${slot}`, performance.now());
    }
    if (isSigned && isByDelegate(header)) {
      logger.warn({ height, id, sender: caller.address }, "block of a delegate whose turn it is not");
    } else {
      deps.ban(caller.address, `it posted a block ${height} that no delegate made`);
    }
    return false;
  }

  const remainingMs = (slot: number) => slots.unixMsOf(slots.slotTime(slot + 1)) - deps.nowMs();

  /** Step 4 and what follows. */
  async function process(block: EncodedBlock): Promise<Outcome> {
    onItsWay = block.header;
    deps.onReceived(block);
    try {
      const [outcome] = await chain.accept([block]);
      follow(block, outcome!);
      return outcome!;
    } finally {
      if (onItsWay === block.header) onItsWay = undefined;
    }
  }

  function follow(block: EncodedBlock, outcome: Outcome): void {
    if (outcome.answer === "Accepted" || outcome.answer === "Discarded") deps.broadcast(block);
    if (outcome.answer === "Accepted") return;
    const { height, id } = block.header;
    logger.warn({ height, id, reason: refusalOf(outcome) }, "block disregarded");
  }

  return {
    async post(bytes, caller) {
      const block = receiveBlock(bytes, network, checkCount);
      if (!isWanted(block, caller)) return;
      if (!deps.isStarted()) return deps.onDisregarded(block);
      observations.begin(block.header, performance.now(), caller.isTrusted ? 0 : 1);
      // The answer does not wait for the fate of the block.
      process(block).catch((err) => logger.error({ err }, "a posted block was not processed"));
    },
    async submit(block) {
      observations.begin(block.header, performance.now(), 0);
      return refusalOf(await process(block));
    },
  };
}

const orderOf = (state: StateReader, round: number): readonly string[] | undefined =>
  state.get("rounds", String(round))?.order;
