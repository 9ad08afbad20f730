/** The handlers of the events of the protocol (p2p.md 5, 7 and 9). */
import { normalizeAddress } from "../addresses.ts";
import type { RateLimits } from "../guards/rate-limits.ts";
import type { InboundBlocks } from "../inbound-blocks.ts";
import type { InboundTransactions } from "../transactions.ts";
import { type Caller, ReplyError, type RequestHandler } from "../transport/calls.ts";
import type { Call } from "../wire/client-messages.ts";
import { type EventName, isInternal, type NetworkState, type ResultOf, type Status } from "../wire/events.ts";
import { MAX_PEERS, RATE_LIMITS } from "../wire/limits.ts";
import { NOT_READY } from "../wire/server-messages.ts";
import type { BlockHandlers } from "./blocks.ts";
import type { ForgerHandlers } from "./forger.ts";

export type RequestHandlerDeps = {
  readonly blocks: BlockHandlers;
  readonly forger: ForgerHandlers;
  readonly inboundBlocks: Pick<InboundBlocks, "post">;
  readonly inboundTransactions: Pick<InboundTransactions, "post">;
  readonly rateLimits: RateLimits;
  readonly status: () => Status;
  /** Addresses of peers by increasing latency. */
  readonly peers: () => string[];
  /** Returns true if an address, in any form, belongs to a peer or a separate forger. */
  readonly isPeerOrForger: (address: string) => boolean;
  /** Pings the peers first. */
  readonly networkState: () => Promise<NetworkState>;
  /** Starts a round of synchronisation. */
  readonly triggerSync: () => void;
  /** An event that a separate forger emits. */
  readonly onForgerEvent: (name: string, body: Readonly<Record<string, unknown>>) => void;
  /** Called with the address of a caller, which may become a peer. */
  readonly onCaller: (address: string) => void;
  readonly genesisBlock: Readonly<Record<string, unknown>>;
  /** Returns true if the node is in sync with the network: otherwise a forger must not build on its head. */
  readonly isSynced: () => boolean;
};

type RequestHandlers = {
  readonly [E in EventName]: (
    argument: Extract<Call, { event: E }>["argument"],
    caller: Caller,
  ) => ResultOf<E> | Promise<ResultOf<E>>;
};

/** Maximum for one address: a peer requests further blocks only after the reply or its timeout. */
const MAX_QUEUED_REPLIES = 4;

export function createRequestHandler(deps: RequestHandlerDeps): RequestHandler {
  const { blocks, forger, rateLimits } = deps;
  const replyQueue = new ReplyQueue({ maxPerAddress: MAX_QUEUED_REPLIES });

  const handlers: RequestHandlers = {
    // A client rejects a longer list.
    "p2p.peer.getPeers": () =>
      deps
        .peers()
        .slice(0, MAX_PEERS)
        .map((ip) => ({ ip })),
    "p2p.peer.getStatus": deps.status,
    "p2p.peer.getCommonBlocks": blocks.getCommonBlocks,
    "p2p.peer.getBlocks": (argument, { address }) =>
      replyQueue.add(address, () => blocks.getBlocks(argument)),
    "p2p.peer.postBlock": async ({ block }, caller) => {
      await deps.inboundBlocks.post(block, caller);
      return {};
    },
    "p2p.peer.postTransactions": ({ transactions }) => {
      deps.inboundTransactions.post(transactions);
      return [];
    },
    "p2p.internal.acceptNewPeer": ({ ip }) => {
      deps.onCaller(ip);
      return {};
    },
    "p2p.internal.isPeerOrForger": ({ ip }) => ({ isPeerOrForger: deps.isPeerOrForger(ip) }),
    "p2p.internal.emitEvent": ({ event, body }) => {
      deps.onForgerEvent(event, body);
      return {};
    },
    "p2p.internal.getUnconfirmedTransactions": forger.getUnconfirmedTransactions,
    "p2p.internal.getCurrentRound": forger.getCurrentRound,
    "p2p.internal.getNetworkState": deps.networkState,
    "p2p.internal.getRateLimitStatus": ({ ip, endpoint }) =>
      rateLimits.peek(normalizeAddress(ip), endpoint, performance.now()),
    "p2p.internal.isBlockedByRateLimit": ({ ip }) => ({
      blocked: rateLimits.isBlocked(normalizeAddress(ip), performance.now()),
    }),
    "p2p.internal.syncBlockchain": () => {
      deps.triggerSync();
      return {};
    },
    "p2p.internal.getRateLimitedEndpoints": () => Object.keys(RATE_LIMITS) as (keyof typeof RATE_LIMITS)[],
    "uniknode.peer.getBlocks": (argument, { address }) =>
      replyQueue.add(address, () => blocks.getPackedBlocks(argument)),
    "uniknode.peer.getGenesis": () => ({ genesisBlock: deps.genesisBlock }),
  };

  return async (call, caller) => {
    if (isInternal(call.event) && !deps.isSynced()) throw new ReplyError(NOT_READY);
    if (!isInternal(call.event)) deps.onCaller(caller.address);
    // The argument belongs to the event, which the type of the table cannot express.
    const handle = handlers[call.event] as (argument: unknown, caller: Caller) => ResultOf<EventName>;
    return handle(call.argument, caller);
  };
}

/** Large replies, which are built one after another: concurrent ones would all be in memory. */
export class ReplyQueue {
  readonly #maxPerAddress: number;
  readonly #counts = new Map<string, number>();
  #last: Promise<unknown> = Promise.resolve();

  /** @param options `maxPerAddress` is the maximum of replies to one address that are queued or being built */
  constructor({ maxPerAddress }: { readonly maxPerAddress: number }) {
    this.#maxPerAddress = maxPerAddress;
  }

  /**
   * Builds a reply after the queued ones.
   *
   * @throws {ReplyError} if too many replies to the address are queued
   */
  add<T>(address: string, make: () => Promise<T>): Promise<T> {
    const count = this.#counts.get(address) ?? 0;
    if (count >= this.#maxPerAddress) throw new ReplyError("Wait for the replies that are being built.");
    this.#counts.set(address, count + 1);
    const made = this.#last.then(make).finally(() => this.#release(address));
    this.#last = made.catch(() => {});
    return made;
  }

  #release(address: string): void {
    const count = (this.#counts.get(address) ?? 0) - 1;
    if (count > 0) this.#counts.set(address, count);
    else this.#counts.delete(address);
  }
}
