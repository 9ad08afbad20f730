/** Client of the peers: one connection for each address, opened with the first request. */
import type { Socket } from "node:net";
import type { Network } from "@uniknode/protocol";
import { clientReaction, WireError } from "../wire/error.ts";
import { type PeerEvent, type Received, readResult } from "../wire/replies/received.ts";
import type { ArgumentOf } from "../wire/requests/arguments.ts";
import { type CallLimits, type Connection, connectPeer } from "./connection.ts";
import { PeerError } from "./error.ts";
import { createRequestThrottle, type RequestThrottle } from "./throttle.ts";

export type PeerClientOptions = {
  /** Port of the whole network (p2p.md 1). */
  readonly port: number;
  /** Source address of connections; any of this host if absent. */
  readonly localAddress: string | undefined;
};

export type PeerClientDeps = {
  readonly network: Network;
  /** Called with the height in the headers of a reply. */
  readonly onHeight: (address: string, height: number) => void;
  /** Called with the socket of every connection. */
  readonly onSocket?: (socket: Socket) => void;
};

export type PeerClient = {
  /**
   * Waits for the rate limit of the event at that address, sends the request, and validates the result.
   *
   * @param argument a value, or a function that is called just before the request is sent
   * @throws {PeerError}
   */
  request<E extends PeerEvent>(
    address: string,
    event: E,
    argument: ArgumentOf<E> | (() => ArgumentOf<E>),
    limits: CallLimits,
    /** Called when the request is sent. */
    onSent?: () => void,
  ): Promise<Received[E]>;
  /** Whether `count` requests of the event could be sent to an address without waiting for its rate limit. */
  hasCapacity(address: string, event: PeerEvent, count: number): boolean;
  /** Ends the connection to an address. */
  disconnect(address: string): void;
  close(): void;
};

type Link = {
  readonly throttle: RequestThrottle;
  connection: Promise<Connection> | undefined;
  usedAt: number;
};

/** An address without a connection is forgotten after this time without a request, longer than any rate window ... */
const IDLE_MS = 60_000;
/** ... or when there are more addresses than this: the least recently used first. */
const MAX_LINKS = 2_000;

export function createPeerClient(
  options: PeerClientOptions,
  { network, onHeight, onSocket }: PeerClientDeps,
): PeerClient {
  const links = new Map<string, Link>();
  let isClosed = false;

  function getLink(address: string): Link {
    const now = performance.now();
    const link = links.get(address) ?? {
      throttle: createRequestThrottle(),
      connection: undefined,
      usedAt: now,
    };
    link.usedAt = now;
    // The least recently used are first.
    links.delete(address);
    links.set(address, link);
    for (const [other, { connection, usedAt }] of links) {
      const isOld = now - usedAt > IDLE_MS;
      if (!isOld && links.size <= MAX_LINKS) break;
      if (!connection && other !== address) links.delete(other);
    }
    return link;
  }

  function connect(address: string, link: Link): Promise<Connection> {
    if (link.connection) return link.connection;
    const connecting = connectPeer({ address, ...options, ...(onSocket && { onSocket }) });
    link.connection = connecting;
    const forget = () => {
      if (link.connection === connecting) link.connection = undefined;
    };
    connecting.then(({ ended }) => ended.then(forget), forget);
    return connecting;
  }

  async function end(link: Link): Promise<void> {
    const { connection } = link;
    link.connection = undefined;
    await connection?.then(
      ({ close }) => close(),
      () => {},
    );
  }

  return {
    async request(address, event, argument, limits, onSent) {
      const link = getLink(address);
      await link.throttle.acquire(event);
      if (isClosed) throw new PeerError("PEER_GONE", "this node is closing");
      const connection = await connect(address, link);
      onSent?.();
      const resolved = typeof argument === "function" ? argument() : argument;
      const { result, height } = await connection.call(event, resolved, limits);
      if (height !== undefined) onHeight(address, height);
      try {
        return readResult(event, result, network);
      } catch (error) {
        if (!(error instanceof WireError)) throw error;
        if (clientReaction(error) === "drop") void end(link);
        throw new PeerError("PEER_PROTOCOL", `${address}: ${error.message}`, { cause: error });
      }
    },
    hasCapacity: (address, event, count) => links.get(address)?.throttle.hasCapacity(event, count) ?? true,
    disconnect(address) {
      const link = links.get(address);
      if (link) void end(link);
    },
    close() {
      isClosed = true;
      for (const link of links.values()) void end(link);
    },
  };
}
