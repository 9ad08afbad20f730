/** Client of the peers: one connection for each address, opened with the first request. */

import type { Socket } from "node:net";
import type { Network } from "@uniknode/protocol";
import { createTimeSlices } from "../../platform/threads/time-slices.ts";
import { clientReaction, WireError } from "../wire/error.ts";
import { MESSAGE_SLICE_MS, TIMES_MS } from "../wire/limits.ts";
import { type PeerEvent, type Received, readResult } from "../wire/replies/received.ts";
import type { ArgumentOf } from "../wire/requests/arguments.ts";
import { type Connection, connectPeer } from "./connection.ts";
import { PeerError } from "./error.ts";
import type { CallLimits } from "./pending-calls.ts";
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
  /**
   * Returns true if `count` requests of the event could be sent to an address without waiting for its rate
   * limit.
   */
  hasCapacity(address: string, event: PeerEvent, count: number): boolean;
  /** Ends the connection to an address; one that is being opened ends after that, unless another request uses it. */
  disconnect(address: string): void;
  /** Settles when every connection has ended. */
  close(): Promise<void>;
};

type Link = {
  readonly throttle: RequestThrottle;
  connection: Promise<Connection> | undefined;
  /** Ends the attempt to connect. */
  dial: AbortController | undefined;
  /** Requests that wait or are under way. */
  users: number;
  usedAt: number;
};

/** An address without a connection is forgotten after this time without a request, longer than any rate window ... */
const IDLE_MS = 60_000;
/** ... or when there are more addresses than this: the least recently used first. */
const MAX_LINKS = 2_000;
/** Maximum number of pending attempts to connect to unresponsive addresses; the oldest attempts are aborted. */
const MAX_SILENT = 100;

export function createPeerClient(
  options: PeerClientOptions,
  { network, onHeight, onSocket }: PeerClientDeps,
): PeerClient {
  const links = new Map<string, Link>();
  const slices = createTimeSlices({ sliceMs: MESSAGE_SLICE_MS });
  const connections = new Set<Connection>();
  /** Links whose attempt to connect is late, the oldest first. */
  const silent = new Set<Link>();
  let isClosed = false;

  function getLink(address: string): Link {
    const now = performance.now();
    const link = links.get(address) ?? {
      throttle: createRequestThrottle(),
      connection: undefined,
      dial: undefined,
      users: 0,
      usedAt: now,
    };
    link.usedAt = now;
    // The least recently used are first.
    links.delete(address);
    links.set(address, link);
    for (const [other, { connection, users, usedAt }] of links) {
      const isOld = now - usedAt > IDLE_MS;
      if (!isOld && links.size <= MAX_LINKS) break;
      if (!connection && users === 0 && other !== address) links.delete(other);
    }
    return link;
  }

  /** Opens the only connection to an address. */
  function dial(address: string, link: Link): Promise<Connection> {
    const ending = new AbortController();
    const { signal } = ending;
    const handshakeMs = TIMES_MS.dial;
    const dialled = connectPeer({
      address,
      ...options,
      slices,
      handshakeMs,
      signal,
      ...(onSocket && { onSocket }),
    });
    link.connection = dialled;
    link.dial = ending;
    const forget = () => {
      if (link.connection === dialled) link.connection = undefined;
    };
    const settled = () => {
      link.dial = undefined;
      silent.delete(link);
    };
    dialled.finally(settled).then((connection) => {
      connections.add(connection);
      void connection.ended.then(() => connections.delete(connection)).then(forget);
      // Nothing waits for it.
      if (link.users === 0 || isClosed) end(link);
    }, forget);
    return dialled;
  }

  /** The connection of an address, unless it takes too long: the attempt goes on, and the next request joins it. */
  async function connect(address: string, link: Link): Promise<Connection> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      if (link.dial) addSilent(link);
      late.reject(new PeerError("PEER_UNREACHABLE", `${address} does not answer`));
    }, TIMES_MS.connect);
    return Promise.race([link.connection ?? dial(address, link), late.promise]).finally(() =>
      clearTimeout(timer),
    );
  }

  function addSilent(link: Link): void {
    silent.add(link);
    const [oldest] = silent;
    if (silent.size > MAX_SILENT) oldest!.dial?.abort();
  }

  /** An attempt to connect goes on. */
  function end(link: Link): void {
    if (link.dial) return;
    const { connection } = link;
    link.connection = undefined;
    void connection?.then(
      ({ close }) => close(),
      () => {},
    );
  }

  return {
    async request(address, event, argument, limits, onSent) {
      const link = getLink(address);
      link.users++;
      try {
        await link.throttle.acquire(event);
        if (isClosed) throw new PeerError("PEER_GONE", "this node is closing");
        const connection = await connect(address, link);
        onSent?.();
        const resolved = typeof argument === "function" ? argument() : argument;
        const { result, height } = await connection.call(event, resolved, limits);
        if (height !== undefined) onHeight(address, height);
        return readResult(event, result, network);
      } catch (error) {
        if (!(error instanceof WireError)) throw error;
        if (clientReaction(error) === "drop") end(link);
        throw new PeerError("PEER_PROTOCOL", `${address}: ${error.message}`, { cause: error });
      } finally {
        link.users--;
      }
    },
    hasCapacity: (address, event, count) => links.get(address)?.throttle.hasCapacity(event, count) ?? true,
    disconnect(address) {
      const link = links.get(address);
      if (link) end(link);
    },
    async close() {
      isClosed = true;
      for (const { throttle, dial } of links.values()) {
        throttle.close();
        dial?.abort();
      }
      for (const { close } of connections) close();
      await Promise.all([...connections].map(({ ended }) => ended));
    },
  };
}
