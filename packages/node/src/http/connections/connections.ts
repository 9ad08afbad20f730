/**
 * Connections of an HTTP server: so many at once, of which one client and one site have a share, so that there is room
 * for others. Where all are taken, the client with the most of them gives up one that nothing is being done for.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { clientGroup, siteGroup } from "../../platform/addresses/groups.ts";
import type { RangeTest } from "../../platform/addresses/ranges.ts";
import { createQueue } from "../server/queue.ts";
import { stopParsing } from "./stop-parsing.ts";

export type ConnectionBounds = {
  /** Open at once, of all clients together. */
  readonly total: number;
  /** Of one client: an IPv4 address, or the /64 of an IPv6 address. */
  readonly perClient: number;
};

/** Why a new connection is closed at once: whose share is used up, or that its client pipelined too much just before. */
export type Refusal = "client" | "site" | "total" | "offender";
/**
 * Why an open connection is closed: `evicted` to make room for another client, `late` with a request, `pipelined` too many
 * of them, `memory` that its bodies and answers take, or `slow` with taking an answer.
 */
export type Closure = "evicted" | "late" | "pipelined" | "memory" | "slow";

/** `open` now; the others since the start. */
export type ConnectionFigures = {
  readonly open: number;
  readonly refused: Readonly<Record<Refusal, number>>;
  readonly closed: Readonly<Record<Closure, number>>;
};

export type Connection = {
  readonly socket: Socket;
  /** To requests that are not answered, or whose answers are not taken yet. */
  readonly inFlight: ReadonlySet<ServerResponse>;
  /** The same value for each connection of a client; absent for a proxy. */
  readonly client: object | undefined;
  /** Bytes that were read from it before its last request. */
  readonly readBefore: number;
};

export type Connections = {
  /** Takes a new connection, or closes it. */
  admit(socket: Socket): void;
  /**
   * Takes a request. `handle` is called once those before it on its connection are answered and their answers taken, so
   * that a client has one answer at a time made; never, if the connection is closed before.
   */
  begin(socket: Socket, response: ServerResponse, handle: () => void): void;
  all(): Iterable<Connection>;
  close(socket: Socket, reason: Closure): void;
  /** Notes that a connection is closed elsewhere. */
  closedFor(reason: Closure): void;
  figures(): ConnectionFigures;
};

/** A site (the /48 of an IPv6 address) has a share as large as that many clients. */
const CLIENTS_PER_SITE = 2;
/** Requests of one connection that wait for their answers, or whose answers wait to be taken. */
const MAX_PIPELINED = 32;
/** Answers of the largest kind take half a millisecond each. */
const FOLLOWERS_PER_TICK = 16;

/** A client that pipelined too much gets no new connection for so long: it would do the same again at once. */
const OFFENCE_MS = 10_000;
const MAX_OFFENDERS = 10_000;

type Client = { readonly group: string; readonly site: string; readonly connections: Set<Entry> };
type Entry = {
  readonly socket: Socket;
  readonly inFlight: Set<ServerResponse>;
  /** Absent for a proxy. */
  readonly client: Client | undefined;
  /** Monotonic time at which it was opened, asked something, or took an answer last. */
  sinceMs: number;
  readBefore: number;
  /** Handling of requests whose turn on the connection has not come, in order. */
  readonly waiting: (() => void)[];
};

/** Connections of proxies belong to many clients: they count in the total only, and none of them is given up. */
export function createConnections({ total, perClient }: ConnectionBounds, isProxy: RangeTest): Connections {
  const open = new Map<Socket, Entry>();
  const clients = new Map<string, Client>();
  const sites = new Map<string, number>();
  /** Monotonic time of the offence, by group of the client; the oldest first. */
  const offenders = new Map<string, number>();
  const refused = { client: 0, site: 0, total: 0, offender: 0 };
  const closed = { evicted: 0, late: 0, pipelined: 0, memory: 0, slow: 0 };

  function clientOf(address: string): Client | undefined {
    if (isProxy(address)) return undefined;
    const group = clientGroup(address);
    return clients.get(group) ?? { group, site: siteGroup(address), connections: new Set() };
  }

  function isOffender(group: string): boolean {
    for (const [oldest, sinceMs] of offenders) {
      if (performance.now() - sinceMs < OFFENCE_MS && offenders.size <= MAX_OFFENDERS) break;
      offenders.delete(oldest);
    }
    return offenders.has(group);
  }

  /** Makes room where that is possible. */
  function refusalOf(client: Client | undefined): Refusal | undefined {
    if (client) {
      if (isOffender(client.group)) return "offender";
      if (client.connections.size >= perClient) return "client";
      if ((sites.get(client.site) ?? 0) >= perClient * CLIENTS_PER_SITE) return "site";
    }
    if (open.size < total) return undefined;
    const dispensable = findDispensable(open.values());
    if (!dispensable) return "total";
    close(dispensable.socket, "evicted");
    return undefined;
  }

  function add(entry: Entry): void {
    open.set(entry.socket, entry);
    const { client } = entry;
    if (!client) return;
    client.connections.add(entry);
    clients.set(client.group, client);
    sites.set(client.site, (sites.get(client.site) ?? 0) + 1);
  }

  function remove(socket: Socket): void {
    const entry = open.get(socket);
    open.delete(socket);
    const client = entry?.client;
    if (!client) return;
    client.connections.delete(entry);
    if (client.connections.size === 0) clients.delete(client.group);
    const left = sites.get(client.site)! - 1;
    if (left > 0) sites.set(client.site, left);
    else sites.delete(client.site);
  }

  /**
   * Requests behind others on their connection, a few in each tick of the event loop: clients whose answers all fit into
   * the buffers of the system would keep those waiting who ask for one thing.
   */
  const followers = createQueue<Entry>(FOLLOWERS_PER_TICK, (entry) => {
    if (open.has(entry.socket)) entry.waiting.shift()?.();
  });

  function close(socket: Socket, reason: Closure): void {
    closed[reason] += 1;
    // Its place is free at once; the event that it is closed comes later.
    remove(socket);
    socket.destroy();
  }

  return {
    admit(socket) {
      const { remoteAddress } = socket;
      // Gone already.
      if (remoteAddress === undefined) return void socket.destroy();
      const client = clientOf(remoteAddress);
      const refusal = refusalOf(client);
      if (refusal !== undefined) {
        refused[refusal] += 1;
        socket.destroy();
        return;
      }
      add({ socket, client, inFlight: new Set(), sinceMs: performance.now(), readBefore: 0, waiting: [] });
      socket.once("close", () => remove(socket));
    },
    begin(socket, response, handle) {
      const entry = open.get(socket);
      if (!entry) return;
      if (entry.inFlight.size >= MAX_PIPELINED) {
        if (entry.client) offenders.set(entry.client.group, performance.now());
        stopParsing(socket);
        return close(socket, "pipelined");
      }
      const isFirst = entry.inFlight.size === 0;
      entry.inFlight.add(response);
      entry.sinceMs = performance.now();
      entry.readBefore = socket.bytesRead;
      response.once("close", () => {
        entry.inFlight.delete(response);
        entry.sinceMs = performance.now();
        if (entry.waiting.length > 0) followers.push(entry);
      });
      if (isFirst) handle();
      else entry.waiting.push(handle);
    },
    all: () => open.values(),
    close,
    closedFor(reason) {
      closed[reason] += 1;
    },
    figures: () => ({ open: open.size, refused: { ...refused }, closed: { ...closed } }),
  };
}

/**
 * Of the client with the most connections, the one that has waited longest for a request; if it has none, for an answer to
 * be taken. Clients whose connections are all at work keep theirs.
 */
function findDispensable(entries: Iterable<Entry>): Entry | undefined {
  let best: Entry | undefined;
  for (const entry of entries) {
    if (entry.client && (isWaiting(entry) || isUntaken(entry)) && (!best || isRather(entry, best)))
      best = entry;
  }
  return best;
}

function isRather(entry: Entry, other: Entry): boolean {
  const more = entry.client!.connections.size - other.client!.connections.size;
  if (more !== 0) return more > 0;
  if (isWaiting(entry) !== isWaiting(other)) return isWaiting(entry);
  return entry.sinceMs < other.sinceMs;
}

/** For a request, or for the rest of one. */
function isWaiting({ inFlight }: Entry): boolean {
  for (const { req } of inFlight) if (req.complete) return false;
  return true;
}

const isUntaken = ({ socket }: Entry): boolean => socket.writableLength > 0;
