/**
 * Limits the connections of an HTTP server: in total, per client and per site. When the total is reached, a new connection
 * replaces an idle one of the client that has the most.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { clientGroup, siteGroup } from "../../platform/addresses/groups.ts";
import type { RangeTest } from "../../platform/addresses/ranges.ts";
import { createQueue, type Queue } from "../core/queue.ts";
import { createOffenders, type Offenders } from "./offenders.ts";
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
export type Closure = "evicted" | "late" | "pipelined" | "memory" | "slow";

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

export type Connections = {
  /** Accepts or closes a new connection. */
  admit(socket: Socket): void;
  /**
   * Registers a request. `handle` is called when all previous responses of the connection were read, so that each connection
   * builds only one response at a time; it is not called if the connection closes earlier.
   */
  begin(socket: Socket, response: ServerResponse, handle: () => void): void;
  all(): Iterable<Connection>;
  close(socket: Socket, reason: Closure): void;
  /** Counts a connection that other code closes. */
  closedFor(reason: Closure): void;
  figures(): ConnectionFigures;
};

/** A site (the /48 of an IPv6 address) may have as many connections as this number of clients. */
const CLIENTS_PER_SITE = 2;
/** Maximum of requests of one connection whose responses are not completely read. */
const MAX_PIPELINED = 32;
/** Pipelined requests started per tick; the largest responses take half a millisecond each. */
const FOLLOWERS_PER_TICK = 16;

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

type Table = {
  readonly bounds: ConnectionBounds;
  readonly isProxy: RangeTest;
  readonly open: Map<Socket, Entry>;
  readonly clients: Map<string, Client>;
  /** Number of open connections by site. */
  readonly sites: Map<string, number>;
  readonly offenders: Offenders;
  /** Connections with pipelined requests that can start. */
  readonly followers: Queue<Entry>;
  readonly refused: Record<Refusal, number>;
  readonly closed: Record<Closure, number>;
};

/** Connections of proxies belong to many clients: they count in the total only, and are never evicted. */
export function createConnections(bounds: ConnectionBounds, isProxy: RangeTest): Connections {
  const open = new Map<Socket, Entry>();
  const table: Table = {
    bounds,
    isProxy,
    open,
    clients: new Map(),
    sites: new Map(),
    offenders: createOffenders(),
    // Starts a few pipelined requests per tick of the event loop: otherwise a client whose responses fit into the system's
    // buffers would delay all other clients.
    followers: createQueue<Entry>(FOLLOWERS_PER_TICK, (entry) => {
      if (open.has(entry.socket)) entry.waiting.shift()?.();
    }),
    refused: { client: 0, site: 0, total: 0, offender: 0 },
    closed: { evicted: 0, late: 0, pipelined: 0, memory: 0, slow: 0 },
  };
  return {
    admit: (socket) => admit(table, socket),
    begin: (socket, response, handle) => begin(table, socket, response, handle),
    all: () => open.values(),
    close: (socket, reason) => close(table, socket, reason),
    closedFor(reason) {
      table.closed[reason] += 1;
    },
    figures: () => ({ open: open.size, refused: { ...table.refused }, closed: { ...table.closed } }),
  };
}

function admit(table: Table, socket: Socket): void {
  const { remoteAddress } = socket;
  // Already disconnected.
  if (remoteAddress === undefined) return void socket.destroy();
  const client = clientOf(table, remoteAddress);
  const refusal = refusalOf(table, client);
  if (refusal !== undefined) {
    table.refused[refusal] += 1;
    socket.destroy();
    return;
  }
  add(table, { socket, client, inFlight: new Set(), sinceMs: performance.now(), readBefore: 0, waiting: [] });
  socket.once("close", () => remove(table, socket));
}

function begin(table: Table, socket: Socket, response: ServerResponse, handle: () => void): void {
  const entry = table.open.get(socket);
  if (!entry) return;
  if (entry.inFlight.size >= MAX_PIPELINED) {
    if (entry.client) table.offenders.add(entry.client.group);
    stopParsing(socket);
    close(table, socket, "pipelined");
    return;
  }
  const isFirst = entry.inFlight.size === 0;
  entry.inFlight.add(response);
  entry.sinceMs = performance.now();
  entry.readBefore = socket.bytesRead;
  response.once("close", () => {
    entry.inFlight.delete(response);
    entry.sinceMs = performance.now();
    if (entry.waiting.length > 0) table.followers.push(entry);
  });
  if (isFirst) handle();
  else entry.waiting.push(handle);
}

function close(table: Table, socket: Socket, reason: Closure): void {
  table.closed[reason] += 1;
  // Frees the slot now, because the close event comes later.
  remove(table, socket);
  socket.destroy();
}

function clientOf({ clients, isProxy }: Table, address: string): Client | undefined {
  if (isProxy(address)) return undefined;
  const group = clientGroup(address);
  return clients.get(group) ?? { group, site: siteGroup(address), connections: new Set() };
}

/** Returns the reason to refuse a client; may evict another connection first. */
function refusalOf(table: Table, client: Client | undefined): Refusal | undefined {
  const { total, perClient } = table.bounds;
  if (client) {
    if (table.offenders.has(client.group)) return "offender";
    if (client.connections.size >= perClient) return "client";
    if ((table.sites.get(client.site) ?? 0) >= perClient * CLIENTS_PER_SITE) return "site";
  }
  if (table.open.size < total) return undefined;
  const evictable = findEvictable(table.open.values());
  if (!evictable) return "total";
  close(table, evictable.socket, "evicted");
  return undefined;
}

function add({ open, clients, sites }: Table, entry: Entry): void {
  open.set(entry.socket, entry);
  const { client } = entry;
  if (!client) return;
  client.connections.add(entry);
  clients.set(client.group, client);
  sites.set(client.site, (sites.get(client.site) ?? 0) + 1);
}

function remove({ open, clients, sites }: Table, socket: Socket): void {
  const entry = open.get(socket);
  open.delete(socket);
  const client = entry?.client;
  if (!client) return;
  client.connections.delete(entry);
  if (client.connections.size === 0) clients.delete(client.group);
  const left = (sites.get(client.site) ?? 0) - 1;
  if (left > 0) sites.set(client.site, left);
  else sites.delete(client.site);
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
