/** Client of the peers: one connection for each address, opened with the first request. */
import type { Socket } from "node:net";
import type { Network } from "@uniknode/protocol";
import { TimeSlices } from "../../platform/threads/time-slices.ts";
import type { ArgumentOf } from "../wire/events.ts";
import { MESSAGE_SLICE_MS, TIMES_MS } from "../wire/limits.ts";
import { type PeerEvent, type Received, readResultGradually } from "../wire/replies.ts";
import { clientReaction, WireError } from "../wire/wire-error.ts";
import { type CallLimits, PeerError } from "./calls.ts";
import { type Connection, connectPeer } from "./connection.ts";
import { Unfinished } from "./memory-bounds.ts";
import { RequestThrottle } from "./throttle.ts";

export type PeerClientOptions = {
  /** Port of the whole network (p2p.md 1). */
  readonly port: number;
  /** Source address of connections; any of this host if absent. */
  readonly localAddress: string | undefined;
  /** Time for which a connection that opens late waits for a request. Defaults to `TIMES_MS.late`; shorter in tests. */
  readonly lateMs?: number;
};

export type PeerClientDeps = {
  readonly network: Network;
  /** Called with the height in the headers of a reply. */
  readonly onHeight: (address: string, height: number) => void;
  /** Called with the socket of every connection. */
  readonly onSocket?: (socket: Socket) => void;
  /** A connection has opened after its requests had failed: the peer was suspended, and is there again. */
  readonly onLate?: (address: string) => void;
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
/** Bytes of incomplete and waiting replies of all peers: more than the ten sources of a download send at a time. */
const MAX_UNFINISHED_BYTES = 256 * 1024 * 1024;
/** Maximum number of pending attempts to connect to unresponsive addresses; the oldest attempts are aborted. */
const MAX_SILENT = 100;

export class PeerClient {
  readonly #options: PeerClientOptions;
  readonly #deps: PeerClientDeps;
  /** Links by address, the least recently used first. */
  readonly #links = new Map<string, Link>();
  readonly #connections = new Set<Connection>();
  /** Links whose attempt to connect is late, the oldest first. */
  readonly #silent = new Set<Link>();
  /** Processes the messages of all connections. */
  readonly #slices = new TimeSlices({ sliceMs: MESSAGE_SLICE_MS });
  readonly #unfinished = new Unfinished({ maxTotalBytes: MAX_UNFINISHED_BYTES });
  #isClosed = false;

  constructor(options: PeerClientOptions, deps: PeerClientDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /**
   * Connects if necessary, waits for the rate limits, sends the request, and validates the result.
   * A property, because other parts get it as a function.
   *
   * @param argument a value, or a function that is called just before the request is sent
   * @param onSent called when the request is sent
   * @throws {PeerError}
   */
  readonly request = async <E extends PeerEvent>(
    address: string,
    event: E,
    argument: ArgumentOf<E> | (() => ArgumentOf<E>),
    limits: CallLimits,
    onSent?: () => void,
  ): Promise<Received[E]> => {
    const { network, onHeight } = this.#deps;
    const link = this.#getLink(address);
    link.users++;
    try {
      this.#assertOpen();
      const connection = await this.#connect(address, link);
      const permit = await link.throttle.acquire(event, limits.timeoutMs);
      this.#assertOpen();
      onSent?.();
      const resolved = typeof argument === "function" ? argument() : argument;
      permit.sent();
      const { result, height } = await connection.call(event, resolved, limits).catch((error) => {
        if (error instanceof PeerError && error.code === "PEER_REFUSED") permit.replied();
        throw error;
      });
      permit.replied();
      if (height !== undefined) onHeight(address, height);
      const limit = "blockLimit" in resolved ? resolved.blockLimit : undefined;
      return await this.#slices.run(readResultGradually(event, result, network, limit), address);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      if (clientReaction(error) === "drop") end(link);
      throw new PeerError("PEER_PROTOCOL", `${address}: ${error.message}`, { cause: error });
    } finally {
      link.users--;
    }
  };

  /**
   * Returns true if `count` requests of the event could be sent to an address without waiting for its rate
   * limit.
   */
  hasCapacity(address: string, event: PeerEvent, count: number): boolean {
    return this.#links.get(address)?.throttle.hasCapacity(event, count) ?? true;
  }

  /** Ends the connection to an address; one that is being opened ends after that, unless another request uses it. */
  disconnect(address: string): void {
    const link = this.#links.get(address);
    if (link) end(link);
  }

  /** Settles when every connection has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { throttle, dial } of this.#links.values()) {
      throttle.close();
      dial?.abort();
    }
    for (const connection of this.#connections) connection.close();
    await Promise.all([...this.#connections].map(({ ended }) => ended));
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new PeerError("PEER_GONE", "this node is closing");
  }

  /** Returns the link of an address, as the most recently used one, and forgets idle links. */
  #getLink(address: string): Link {
    const links = this.#links;
    const now = performance.now();
    const link = links.get(address) ?? {
      throttle: new RequestThrottle(),
      connection: undefined,
      dial: undefined,
      users: 0,
      usedAt: now,
    };
    link.usedAt = now;
    links.delete(address);
    links.set(address, link);
    for (const [other, { connection, users, usedAt }] of links) {
      const isOld = now - usedAt > IDLE_MS;
      if (!isOld && links.size <= MAX_LINKS) break;
      if (!connection && users === 0 && other !== address) links.delete(other);
    }
    return link;
  }

  /** Returns the connection to an address. Rejects after a timeout; the attempt continues, and the next request joins it. */
  async #connect(address: string, link: Link): Promise<Connection> {
    // May throw, then no timer may be left.
    const connection = link.connection ?? this.#dial(address, link);
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      if (link.dial) this.#addSilent(link);
      late.reject(new PeerError("PEER_UNREACHABLE", `${address} does not respond`));
    }, TIMES_MS.connect);
    return Promise.race([connection, late.promise]).finally(() => clearTimeout(timer));
  }

  /** Opens the only connection to an address. */
  #dial(address: string, link: Link): Promise<Connection> {
    const { onSocket } = this.#deps;
    const ending = new AbortController();
    const dialled = connectPeer({
      address,
      ...this.#options,
      slices: this.#slices,
      unfinished: this.#unfinished,
      handshakeMs: TIMES_MS.dial,
      signal: ending.signal,
      ...(onSocket && { onSocket }),
    }).then((connection) => {
      link.throttle.connected();
      return connection;
    });
    link.connection = dialled;
    link.dial = ending;
    const forget = () => {
      if (link.connection !== dialled) return;
      link.connection = undefined;
      link.throttle.disconnected();
    };
    const settled = () => {
      link.dial = undefined;
      this.#silent.delete(link);
    };
    dialled.finally(settled).then((connection) => {
      this.#connections.add(connection);
      void connection.ended.then(() => this.#connections.delete(connection)).then(forget);
      if (this.#isClosed) end(link);
      else if (link.users === 0) this.#keepLate(address, link, connection);
    }, forget);
    return dialled;
  }

  /** Keeps a connection that no request waits for, for the next one. */
  #keepLate(address: string, link: Link, { ended }: Connection): void {
    const { usedAt } = link;
    const timer = setTimeout(() => {
      if (link.usedAt === usedAt) end(link);
    }, this.#options.lateMs ?? TIMES_MS.late);
    void ended.then(() => clearTimeout(timer));
    this.#deps.onLate?.(address);
  }

  #addSilent(link: Link): void {
    const silent = this.#silent;
    silent.add(link);
    const [oldest] = silent;
    if (silent.size > MAX_SILENT) oldest?.dial?.abort();
  }
}

/** Closes the connection of a link; an attempt to connect continues. */
function end(link: Link): void {
  if (link.dial) return;
  const { connection } = link;
  link.connection = undefined;
  link.throttle.disconnected();
  void connection?.then(
    (open) => open.close(),
    () => {},
  );
}
