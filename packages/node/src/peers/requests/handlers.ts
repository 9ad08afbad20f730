/** Handlers of requests for blocks, for the highest common block (p2p.md 7.3 and 7.4), and of a separate forger (p2p.md 9, forger.md 3). */
import { setImmediate as nextTick } from "node:timers/promises";
import type { StateReader, Wallet } from "@uniknode/ledger";
import {
  addressFromPublicKey,
  type BlockHeader,
  bytesToHex,
  headerFromTrustedBytes,
  headerToJson,
  joinBlock,
  type Network,
  type PeerBlockJson,
  type Rounds,
  type SealedTransaction,
  type Slots,
} from "@uniknode/protocol";
import { walletData } from "../../events/content.ts";
import { canForge, networkTiming } from "../../forger/slot-state.ts";
import { ClientSlots } from "../../platform/client-slots.ts";
import type { BlockBytes, BlockStore } from "../../store/chain/blocks.ts";
import { withHoldings } from "../../store/state/holdings.ts";
import { ReplyError } from "../transport/calls.ts";
import { packBlocks } from "../wire/codec.ts";
import type { ArgumentOf, CommonBlock, CurrentRound, ForgerWallet, ResultOf } from "../wire/events.ts";
import { CLIENT_MESSAGE_BYTES, MAX_BLOCKS, MAX_PACKED_BYTES } from "../wire/limits.ts";
import { noCommonBlocks } from "../wire/server-messages.ts";

type BlockHandlersDeps = {
  readonly blocks: Pick<BlockStore, "headerById" | "bytes">;
  readonly head: () => BlockHeader;
};

/** A common block within this distance of the head is sent with all its members. */
const RECENT_BLOCKS = 100;
/** Leaves space for the envelope of a reply. */
const MAX_REPLY_BYTES = CLIENT_MESSAGE_BYTES.blocks - 65_536;
/** Blocks that are read in one tick of the event loop: fewer when they are full. */
const READ_BLOCKS = { first: 4, max: 64 };
/** Time that a tick may spend on them. */
const READ_MS = 4;

export class BlockHandlers {
  readonly #blocks: BlockHandlersDeps["blocks"];
  readonly #head: () => BlockHeader;

  constructor({ blocks, head }: BlockHandlersDeps) {
    this.#blocks = blocks;
    this.#head = head;
  }

  async getCommonBlocks({ ids }: ArgumentOf<"p2p.peer.getCommonBlocks">): Promise<CommonBlock> {
    const known = ids.flatMap((id) => this.#blocks.headerById(id) ?? []);
    if (known.length === 0) throw new ReplyError(noCommonBlocks());
    const common = known.reduce((one, other) => (other.height > one.height ? other : one));
    const lastBlockHeight = this.#head().height;
    const areRecent = known.every(({ height }) => height > lastBlockHeight - RECENT_BLOCKS);
    const { height, id, previousBlock, timestamp } = common;
    return {
      common:
        areRecent && known.length === ids.length
          ? headerToJson(common)
          : { height, id, previousBlock, timestamp },
      lastBlockHeight,
    };
  }

  async getBlocks(argument: ArgumentOf<"p2p.peer.getBlocks">): Promise<PeerBlockJson[]> {
    const { lastBlockHeight, blockLimit = MAX_BLOCKS, headersOnly = false } = argument;
    const found: PeerBlockJson[] = [];
    let bytes = 0;
    for await (const block of this.#readAfter(lastBlockHeight, blockLimit)) {
      bytes += textBytes(block, headersOnly);
      if (found.length > 0 && bytes > MAX_REPLY_BYTES) break;
      found.push(toJson(block, headersOnly));
    }
    return found;
  }

  async getPackedBlocks({
    lastBlockHeight,
    blockLimit,
  }: ArgumentOf<"uniknode.peer.getBlocks">): Promise<ResultOf<"uniknode.peer.getBlocks">> {
    const found: Uint8Array[] = [];
    let bytes = 0;
    for await (const block of this.#readAfter(lastBlockHeight, blockLimit)) {
      // The format of a posted block.
      const packed = joinBlock(block.header, block.transactions);
      bytes += packed.length;
      if (found.length > 0 && bytes > MAX_PACKED_BYTES) break;
      found.push(packed);
    }
    return { blocks: packBlocks(found) };
  }

  /** The blocks after a height, read in parts with ticks of the event loop between them. */
  async *#readAfter(height: number, limit: number): AsyncIterable<BlockBytes> {
    const last = Math.min(height + limit, this.#head().height);
    let count = READ_BLOCKS.first;
    for (let from = height + 1; from <= last; ) {
      const startedAt = performance.now();
      const read = this.#blocks.bytes(from, Math.min(from + count - 1, last));
      // A revert may have removed blocks.
      if (read.length === 0) return;
      yield* read;
      from += read.length;
      const isSlow = performance.now() - startedAt > READ_MS;
      count = isSlow ? Math.max(1, count >> 1) : Math.min(READ_BLOCKS.max, 2 * count);
      await nextTick();
    }
  }
}

/** Estimated length of a block as JSON: its header, and the transactions in hexadecimal. */
const textBytes = ({ transactions }: BlockBytes, headersOnly: boolean): number =>
  headersOnly ? 1024 : transactions.reduce((total, { length }) => total + 2 * length + 3, 1024);

function toJson({ id, header, transactions }: BlockBytes, headersOnly: boolean): PeerBlockJson {
  const { idHex: _, previousBlockHex: __, ...json } = headerToJson(headerFromTrustedBytes(header, id));
  return transactions.length === 0 || headersOnly
    ? json
    : { ...json, transactions: transactions.map(bytesToHex) };
}

/** Large replies, which are built one after another: concurrent ones would all be in memory. */
export class ReplyQueue {
  /** Replies that are queued or being built. */
  readonly #slots: ClientSlots;
  #last: Promise<unknown> = Promise.resolve();

  /** @param options `maxPerClient` is the maximum of replies to one client that are queued or being built */
  constructor({ maxPerClient }: { readonly maxPerClient: number }) {
    this.#slots = new ClientSlots({ total: Number.POSITIVE_INFINITY, perClient: maxPerClient });
  }

  /**
   * Builds a reply after the queued ones.
   *
   * @throws {ReplyError} if too many replies to the client of the address are queued
   */
  add<T>(address: string, make: () => Promise<T>): Promise<T> {
    const release = this.#slots.take(address);
    if (!release) throw new ReplyError("Wait for the replies that are being built.");
    const made = this.#last.then(make).finally(release);
    this.#last = made.catch(() => {});
    return made;
  }
}

type ForgerHandlersDeps = {
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

export class ForgerHandlers {
  readonly #deps: ForgerHandlersDeps;

  constructor(deps: ForgerHandlersDeps) {
    this.#deps = deps;
  }

  getCurrentRound(): CurrentRound {
    const { network, slots, rounds, state, head, nowMs } = this.#deps;
    const last = head();
    const height = last.height + 1;
    const { round } = rounds.roundAt(height);
    const slot = slots.slotAt(slots.timeAt(nowMs()));
    const order = state.get("rounds", String(round))?.order ?? [];
    const delegates = order.map((publicKey) => this.#wallet(publicKey));
    const forgerOf = (wanted: number) => delegates[wanted % delegates.length];
    // The last delegate of the order is followed by the first one: the separate forger of an old node reads both.
    const [currentForger, nextForger] = [forgerOf(slot), forgerOf(slot + 1)];
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
  }

  getUnconfirmedTransactions(): ResultOf<"p2p.internal.getUnconfirmedTransactions"> {
    const { pool } = this.#deps;
    const transactions = pool.select().map(({ bytes }) => bytesToHex(bytes));
    return { transactions, poolSize: pool.size() };
  }

  #wallet(publicKey: string): ForgerWallet {
    const { network, state } = this.#deps;
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
}
