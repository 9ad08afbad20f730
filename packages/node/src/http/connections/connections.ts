/**
 * Limits the connections of an HTTP server: in total, per client and per site. When the total is reached, a new connection
 * replaces an idle one of the client that has the most.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { clientGroup, type RangeTest, siteGroup } from "../../platform/addresses.ts";
import { Queue } from "../core/queue.ts";
import { stopParsing } from "./stop-parsing.ts";

export type ConnectionBounds = {
  /** Maximum of open connections of all clients. */
  readonly total: number;
  /** Maximum of one client: an IPv4 address, or the /64 of an IPv6 address. */
  readonly perClient: number;
};

/**
 * Reason to close a new connection at once: the limit that is reached; `offender`: its client has recently pipelined
 * too many requests.
 */
export type Refusal = "client" | "site" | "total" | "offender";
/**
 * Reason to close an open connection: `evicted` for a connection of another client; `late`: a request did not arrive in time;
 * `pipelined`: too many pipelined requests; `memory`: its bodies and responses use too much; `slow`: it reads too slowly.
 */
type Closure = "evicted" | "late" | "pipelined" | "memory" | "slow";

/** `open` is the current number; the others count since the start. */
export type ConnectionFigures = {
  readonly open: number;
  readonly refused: Readonly<Record<Refusal, number>>;
  readonly closed: Readonly<Record<Closure, number>>;
};

export type Connection = {
  readonly socket: Socket;
  /** Responses that are not sent, or not completely read by the client. */
  readonly inFlight: ReadonlySet<ServerResponse>;
  /** Identity of the client, shared by its connections; absent for a proxy. */
  readonly client: object | undefined;
  /** Bytes read from the socket before its last request. */
  readonly readBefore: number;
};

/** A site (the /48 of an IPv6 address) may have as many connections as this number of clients. */
const CLIENTS_PER_SITE = 2;
/** Maximum of requests of one connection whose responses are not completely read. */
const MAX_PIPELINED = 32;
/** Pipelined requests started per tick; the largest responses take up to 2 ms each while the system allocates their buffers. */
const FOLLOWERS_PER_TICK = 4;
/** Time for which a client that pipelined too many requests gets no new connection, and the maximum of these clients. */
const OFFENCE_MS = 10_000;
const MAX_OFFENDERS = 10_000;

type Client = { readonly group: string; readonly site: string; readonly connections: Set<Entry> };
type Entry = {
  readonly socket: Socket;
  readonly inFlight: Set<ServerResponse>;
  /** Client of the connection; absent for a proxy. */
  readonly client: Client | undefined;
  /** Monotonic time of the last event: opened, request, or response read. */
  sinceMs: number;
  readBefore: number;
  /** Handlers of pipelined requests that have not started, in order. */
  readonly waiting: (() => void)[];
};

/** Connections of proxies belong to many clients: they count in the total only, and are never evicted. */
export class Connections {
  readonly #bounds: ConnectionBounds;
  readonly #isProxy: RangeTest;
  readonly #open = new Map<Socket, Entry>();
  readonly #clients = new Map<string, Client>();
  /** Number of open connections by site. */
  readonly #sites = new Map<string, number>();
  /** Monotonic time at which a client pipelined too many requests, by its group of addresses; oldest first. */
  readonly #offences = new Map<string, number>();
  /**
   * Starts a few pipelined requests per tick of the event loop: otherwise a client whose responses fit into the system's
   * buffers would delay all other clients.
   */
  readonly #followers = new Queue<Entry>(FOLLOWERS_PER_TICK, (entry) => {
    if (this.#open.has(entry.socket)) entry.waiting.shift()?.();
  });
  readonly #refused: Record<Refusal, number> = { client: 0, site: 0, total: 0, offender: 0 };
  readonly #closed: Record<Closure, number> = { evicted: 0, late: 0, pipelined: 0, memory: 0, slow: 0 };

  constructor(bounds: ConnectionBounds, isProxy: RangeTest) {
    this.#bounds = bounds;
    this.#isProxy = isProxy;
  }

  /** Accepts or closes a new connection. */
  admit(socket: Socket): void {
    const { remoteAddress } = socket;
    // Already disconnected.
    if (remoteAddress === undefined) return void socket.destroy();
    const client = this.#clientOf(remoteAddress);
    const refusal = this.#refusalOf(client);
    if (refusal !== undefined) {
      this.#refused[refusal] += 1;
      socket.destroy();
      return;
    }
    const sinceMs = performance.now();
    const entry: Entry = { socket, client, inFlight: new Set(), sinceMs, readBefore: 0, waiting: [] };
    this.#open.set(socket, entry);
    if (client) {
      client.connections.add(entry);
      this.#clients.set(client.group, client);
      this.#sites.set(client.site, (this.#sites.get(client.site) ?? 0) + 1);
    }
    socket.once("close", () => this.#remove(socket));
  }

  /**
   * Registers a request. `handle` is called when all previous responses of the connection were read, so that each connection
   * builds only one response at a time; it is not called if the connection closes earlier.
   */
  begin(socket: Socket, response: ServerResponse, handle: () => void): void {
    const entry = this.#open.get(socket);
    if (!entry) return;
    if (entry.inFlight.size >= MAX_PIPELINED) {
      if (entry.client) this.#addOffence(entry.client.group);
      stopParsing(socket);
      this.close(socket, "pipelined");
      return;
    }
    const isFirst = entry.inFlight.size === 0;
    entry.inFlight.add(response);
    entry.sinceMs = performance.now();
    entry.readBefore = socket.bytesRead;
    response.once("close", () => {
      entry.inFlight.delete(response);
      entry.sinceMs = performance.now();
      if (entry.waiting.length > 0) this.#followers.push(entry);
    });
    if (isFirst) handle();
    else entry.waiting.push(handle);
  }

  /**
   * Returns the open response that the failure of a connection must follow, if any. The request that fails has an incomplete
   * body, or could not be parsed.
   */
  beforeFailure(socket: Socket): ServerResponse | undefined {
    return [...(this.#open.get(socket)?.inFlight ?? [])].findLast(({ req }) => req.complete);
  }

  all(): Iterable<Connection> {
    return this.#open.values();
  }

  close(socket: Socket, reason: Closure): void {
    this.closedFor(reason);
    // Frees the slot now, because the close event comes later.
    this.#remove(socket);
    socket.destroy();
  }

  /** Counts a connection that other code closes. */
  closedFor(reason: Closure): void {
    this.#closed[reason] += 1;
  }

  figures(): ConnectionFigures {
    return { open: this.#open.size, refused: { ...this.#refused }, closed: { ...this.#closed } };
  }

  #clientOf(address: string): Client | undefined {
    if (this.#isProxy(address)) return undefined;
    const group = clientGroup(address);
    return this.#clients.get(group) ?? { group, site: siteGroup(address), connections: new Set() };
  }

  /** Returns the reason to refuse a client; may evict another connection first. */
  #refusalOf(client: Client | undefined): Refusal | undefined {
    const { total, perClient } = this.#bounds;
    if (client) {
      if (this.#isOffender(client.group)) return "offender";
      if (client.connections.size >= perClient) return "client";
      if ((this.#sites.get(client.site) ?? 0) >= perClient * CLIENTS_PER_SITE) return "site";
    }
    if (this.#open.size < total) return undefined;
    const evictable = findEvictable(this.#open.values());
    if (!evictable) return "total";
    this.close(evictable.socket, "evicted");
    return undefined;
  }

  #addOffence(group: string): void {
    // A known key would keep its position before entries that end earlier.
    this.#offences.delete(group);
    this.#offences.set(group, performance.now());
  }

  #isOffender(group: string): boolean {
    for (const [oldest, sinceMs] of this.#offences) {
      if (performance.now() - sinceMs < OFFENCE_MS && this.#offences.size <= MAX_OFFENDERS) break;
      this.#offences.delete(oldest);
    }
    return this.#offences.has(group);
  }

  #remove(socket: Socket): void {
    const entry = this.#open.get(socket);
    this.#open.delete(socket);
    const client = entry?.client;
    if (!client) return;
    client.connections.delete(entry);
    if (client.connections.size === 0) this.#clients.delete(client.group);
    const left = (this.#sites.get(client.site) ?? 0) - 1;
    if (left > 0) this.#sites.set(client.site, left);
    else this.#sites.delete(client.site);
  }
}

/**
 * Finds the connection to evict, which belongs to the client with the most connections: the longest idle one, otherwise the
 * one with the longest unread response. Connections with running requests are never evicted.
 */
function findEvictable(entries: Iterable<Entry>): Entry | undefined {
  let best: ClientEntry | undefined;
  for (const entry of entries) {
    if (hasClient(entry) && (isWaiting(entry) || isUnread(entry)) && (!best || isEvictedBefore(entry, best)))
      best = entry;
  }
  return best;
}

/** An entry of a client, not of a proxy. */
type ClientEntry = Entry & { readonly client: Client };
const hasClient = (entry: Entry): entry is ClientEntry => entry.client !== undefined;

function isEvictedBefore(entry: ClientEntry, other: ClientEntry): boolean {
  const more = entry.client.connections.size - other.client.connections.size;
  if (more !== 0) return more > 0;
  if (isWaiting(entry) !== isWaiting(other)) return isWaiting(entry);
  return entry.sinceMs < other.sinceMs;
}

/** Returns whether the connection waits for a request, or for the rest of a request. */
function isWaiting({ inFlight }: Entry): boolean {
  for (const { req } of inFlight) if (req.complete) return false;
  return true;
}

const isUnread = ({ socket }: Entry): boolean => socket.writableLength > 0;
