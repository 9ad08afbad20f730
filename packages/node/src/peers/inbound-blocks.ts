/** Receives blocks that peers post, and blocks of this node's own forger (p2p.md 7.5 and 11). */
import { isChained, type StateReader } from "@uniknode/ledger";
import {
  addressFromPublicKey,
  type Block,
  type BlockHeader,
  decodeHeader,
  delegateOfSlot,
  type EncodedBlock,
  headerSignatureJob,
  isBlockException,
  type Network,
  payloadHashOf,
  type Rounds,
  type Slots,
  verifyHeaderJob,
} from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Chain } from "../chain/chain.ts";
import { type Outcome, refusalOf } from "../chain/outcome.ts";
import { type ReceivedBlock, receiveBlockGradually } from "../chain/pipeline/receive.ts";
import { networkTiming } from "../forger/slot-state.ts";
import { clientGroup } from "../platform/addresses.ts";
import { deleteOldest } from "../platform/bounded-entries.ts";
import { present } from "../platform/present.ts";
import { TimeSlices } from "../platform/threads/time-slices.ts";
import type { BlockObservations } from "./block-broadcast.ts";
import { MAX_ROLLBACK } from "./forks.ts";
import { WindowCounter } from "./guards/rate-limits.ts";
import { Refusals } from "./guards/refusals.ts";
import { type Caller, ReplyError } from "./transport/calls.ts";
import { MESSAGE_SLICE_MS, TIMES_MS } from "./wire/limits.ts";
import { blockNotChained, tooManyTransactions } from "./wire/server-messages.ts";

export type InboundBlocksDeps = {
  readonly network: Network;
  readonly slots: Slots;
  readonly rounds: Rounds;
  readonly chain: Pick<Chain, "accept" | "head" | "state">;
  /** Header of this node's chain at a height. */
  readonly header: (height: number) => BlockHeader | undefined;
  readonly observations: BlockObservations;
  /** Called with each header from another node; it is neither verified nor on the chain. */
  readonly checkForeign: (header: BlockHeader) => void;
  readonly broadcast: (block: EncodedBlock) => void;
  /** Returns true if the node has been in sync with the network since its start (p2p.md 11 point 4). */
  readonly isStarted: () => boolean;
  /** Called when a block passed the first checks and is queued for the chain. */
  readonly onReceived: (block: Block) => void;
  /** Called when a block passed the first checks but is ignored, because the node is not in sync yet. */
  readonly onDisregarded: (block: Block) => void;
  /** Called when a block of a delegate does not continue the head: its sender is ahead of this node, or on another branch. */
  readonly onUnchained: (header: BlockHeader, caller: Caller) => void;
  readonly ban: (address: string, reason: string) => void;
  readonly nowMs: () => number;
  readonly logger: Logger;
};

/**
 * Maximum number of blocks of one delegate for one slot that are submitted to the chain. An honest delegate
 * forges one. An attacker with the keys may sign many full blocks, each of which costs as much as a real one.
 */
const BLOCKS_PER_SLOT = { events: 3, windowMs: 600_000 };

export class InboundBlocks {
  readonly #deps: InboundBlocksDeps;
  /** Counts the blocks of each delegate and slot. */
  readonly #submitted = new WindowCounter(BLOCKS_PER_SLOT);
  /** Clients that posted an acceptable header with transactions that cannot be read: their blocks are not decoded for a while. */
  readonly #unreadable = new Refusals({ durationMs: TIMES_MS.refusal });
  /** A block of a separate forger is too late when less of its slot remains. */
  readonly #minRemainingMs: number;
  /** Decodes the transactions of posted blocks. */
  readonly #slices = new TimeSlices({ sliceMs: MESSAGE_SLICE_MS });
  /** Settles when the posts so far are read and given to the chain: the next one may be the same block, or continue it. */
  #posted: Promise<void> = Promise.resolve();
  /** Header of the block that the chain is executing: the next block may continue it. */
  #inFlight: BlockHeader | undefined;

  constructor(deps: InboundBlocksDeps) {
    this.#deps = deps;
    this.#minRemainingMs = networkTiming(deps.slots.blocktime).minRemainingMs;
  }

  /**
   * Receives a block of another node; settles before the chain has accepted or refused it.
   *
   * @throws {ReplyError} if it does not continue the chain
   * @throws {BlockError | TransactionError} if it cannot be read
   */
  post(bytes: Uint8Array, caller: Caller): Promise<void> {
    const result = this.#posted.then(() => this.#read(bytes, caller));
    this.#posted = result.catch(() => {});
    return result;
  }

  /** Submits a block of this node's own forger. Settles with the reason if the chain refuses it. */
  async submitBlock(block: EncodedBlock): Promise<string | undefined> {
    this.#deps.observations.begin(block.header, performance.now(), undefined);
    return refusalOf(await this.#process(block));
  }

  /** The header decides: the transactions of blocks that no delegate signed are not decoded. */
  async #read(bytes: Uint8Array, caller: Caller): Promise<void> {
    const { network, observations, isStarted, onDisregarded, logger } = this.#deps;
    const { header } = decodeHeader(bytes, network);
    this.#checkCount(header);
    if (!this.#isAcceptable(header, caller)) return;
    const sender = clientGroup(caller.address);
    // The header may be one that an honest node has sent, so that it would be acceptable again.
    if (!caller.isTrusted && this.#unreadable.has(sender, performance.now())) return;
    const decoding = this.#slices.run(receiveBlockGradually(bytes, network), caller.address);
    const block = await decoding.catch((error) => {
      if (!caller.isTrusted) this.#unreadable.add(sender, performance.now());
      throw error;
    });
    if (!this.#isWhole(block, caller)) return;
    if (!isStarted()) return onDisregarded(block);
    const observer = caller.isTrusted ? undefined : caller.address;
    observations.begin(block.header, performance.now(), observer);
    // The reply does not wait for the chain.
    this.#process(block).catch((err) => logger.error({ err }, "failed to process a posted block"));
  }

  #checkCount(header: BlockHeader): void {
    const { network, chain } = this.#deps;
    const { maxTransactions } = network.milestoneAt(chain.head().height).block;
    if (header.numberOfTransactions > maxTransactions) throw new ReplyError(tooManyTransactions(header));
  }

  /** Performs steps 1 to 3 for a block of another node; returns false if the block must be ignored. */
  #isAcceptable(header: BlockHeader, caller: Caller): boolean {
    const deps = this.#deps;
    const { slots, chain, observations } = deps;
    const head = this.#inFlight ?? chain.head();
    if (!caller.isTrusted && observations.count(header, performance.now(), caller.address)) return false;
    deps.checkForeign(header);
    if (!caller.isTrusted && !isChained(header, { head, slots })) {
      // The synchronisation pings every peer: a header that any client can invent must not start it.
      if (this.#isOfDelegate(header) && this.#isPossible(header) && this.#isSigned(header)) {
        deps.onUnchained(header, caller);
      }
      throw new ReplyError(blockNotChained(header.height, head.height));
    }
    const slot = slots.slotAt(header.timestamp);
    if (slot > this.#currentSlot()) return false;
    if (caller.isTrusted)
      return slot === this.#currentSlot() && this.#remainingMs(slot) >= this.#minRemainingMs;
    return this.#isFromDelegate(header, head, caller);
  }

  /**
   * Returns true if a chain of one block in each slot can have the header now, after a block of ours that can still be the
   * common one. Otherwise a delegate could sign a header of any height once, and anyone could post it for ever.
   */
  #isPossible({ height, timestamp }: BlockHeader): boolean {
    const { slots, chain, header } = this.#deps;
    const slot = slots.slotAt(timestamp);
    const base = header(Math.max(1, chain.head().height - MAX_ROLLBACK)) ?? chain.head();
    return slot <= this.#currentSlot() && height - base.height <= slot - slots.slotAt(base.timestamp);
  }

  #currentSlot(): number {
    const { slots, nowMs } = this.#deps;
    return slots.slotAt(slots.timeAt(nowMs()));
  }

  #remainingMs(slot: number): number {
    const { slots, nowMs } = this.#deps;
    return slots.unixMsOf(slots.slotTime(slot + 1)) - nowMs();
  }

  /**
   * Returns true if the delegate of the slot has signed a header that continues `below`. Bans the sender of a header
   * that no delegate signed.
   */
  #isFromDelegate(header: BlockHeader, below: BlockHeader, caller: Caller): boolean {
    const { height, id } = header;
    const isSigned = this.#isSigned(header);
    if (isSigned && this.#isOfSlotDelegate(header, below)) return true;
    if (isSigned && this.#isOfDelegate(header)) {
      this.#deps.logger.warn(
        { height, id, sender: caller.address },
        "block ignored: its generator is not the delegate of the slot",
      );
    } else this.#banFor(header, caller);
    return false;
  }

  #isSigned(header: BlockHeader): boolean {
    return verifyHeaderJob(headerSignatureJob(header, this.#deps.network)) === "valid";
  }

  /** Returns true if the generator is the delegate of the slot. */
  #isOfSlotDelegate({ timestamp, generatorPublicKey }: BlockHeader, below: BlockHeader): boolean {
    const { rounds, chain, slots } = this.#deps;
    const { round } = rounds.roundAt(below.height + 1);
    const order = getForgingOrder(chain.state, round);
    return order === undefined || delegateOfSlot(order, slots.slotAt(timestamp)) === generatorPublicKey;
  }

  /** A restarted node may have another forging order in some rounds (traps C1 and C2). */
  #isOfDelegate({ generatorPublicKey }: BlockHeader): boolean {
    const { network, chain } = this.#deps;
    const address = addressFromPublicKey(generatorPublicKey, network.description.pubKeyHash);
    return chain.state.get("wallets", address)?.attributes.delegate !== undefined;
  }

  /**
   * Returns true if the transactions belong to an acceptable header, and the delegate has not made several
   * blocks.
   */
  #isWhole(block: ReceivedBlock, caller: Caller): boolean {
    if (caller.isTrusted) return true;
    const { header } = block;
    if (this.#hasItsTransactions(block)) {
      const slot = this.#deps.slots.slotAt(header.timestamp);
      return this.#submitted.take(`${header.generatorPublicKey} ${slot}`, performance.now());
    }
    this.#banFor(header, caller);
    return false;
  }

  /** The id covers the header only: with wrong transactions, the block would replace the real one. */
  #hasItsTransactions({ header, transactions }: Block): boolean {
    const { network } = this.#deps;
    const ids = transactions.map(({ data }) => data.id);
    return payloadHashOf(ids) === header.payloadHash || isBlockException(header.id, ids, network);
  }

  #banFor({ height }: BlockHeader, { address }: Caller): void {
    this.#deps.ban(address, `it posted a block ${height} that no delegate signed`);
  }

  /** Step 4 and later. */
  async #process(block: EncodedBlock): Promise<Outcome> {
    const { chain, onReceived } = this.#deps;
    this.#inFlight = block.header;
    onReceived(block);
    try {
      const outcome = present((await chain.accept([block]))[0], "the outcome of a block");
      this.#relay(block, outcome);
      return outcome;
    } finally {
      if (this.#inFlight === block.header) this.#inFlight = undefined;
    }
  }

  #relay(block: EncodedBlock, outcome: Outcome): void {
    const { broadcast, logger } = this.#deps;
    if (outcome.kind === "Accepted" || outcome.kind === "Discarded") broadcast(block);
    if (outcome.kind === "Accepted") return;
    const { height, id } = block.header;
    logger.warn({ height, id, reason: refusalOf(outcome) }, "block refused");
  }
}

const getForgingOrder = (state: StateReader, round: number): readonly string[] | undefined =>
  state.get("rounds", String(round))?.order;

type DoubleForgingDeps = {
  readonly network: Network;
  readonly slots: Slots;
  /** Header of this node's chain at a height. */
  readonly header: (height: number) => BlockHeader | undefined;
  readonly logger: Logger;
};

/** Blocks that are remembered as logged. */
const MAX_REPORTED = 1_000;

/** Detects delegates that sign two blocks for one slot. */
export class DoubleForging {
  readonly #deps: DoubleForgingDeps;
  readonly #reported = new Set<string>();

  constructor(deps: DoubleForgingDeps) {
    this.#deps = deps;
  }

  /** Compares a received header with the chain, and logs double forging once per block. */
  check(other: BlockHeader): void {
    const { network, slots, header, logger } = this.#deps;
    const { height, generatorPublicKey, id } = other;
    const ours = header(height);
    if (!ours || ours.id === id || ours.generatorPublicKey !== generatorPublicKey) return;
    if (slots.slotAt(ours.timestamp) !== slots.slotAt(other.timestamp) || this.#reported.has(id)) return;
    if (verifyHeaderJob(headerSignatureJob(other, network)) !== "valid") return;
    if (this.#reported.size >= MAX_REPORTED) deleteOldest(this.#reported);
    this.#reported.add(id);
    logger.warn(
      { height, generatorPublicKey, blockIds: [ours.id, id] },
      "double forging: a delegate signed two blocks for one slot",
    );
  }
}
