/**
 * Finds peers, drops unresponsive peers, and probes which of the services that peers announce are reachable, which has no effect
 * on the protocol (p2p.md 10.2 and 10.6).
 */

import { connect, isIP } from "node:net";
import { setImmediate as nextTick } from "node:timers/promises";
import type { Logger } from "pino";
import type { PeerStore } from "../../store/node/peers.ts";
import { networkHeight, type Peer, type PeerTable, sample } from "../peer-table.ts";
import type { PeerClient } from "../transport/client.ts";
import { CLIENT_MESSAGE_BYTES, TIMES_MS } from "../wire/limits.ts";
import type { Candidates } from "./candidates.ts";
import type { Ping } from "./ping.ts";
import { readSources } from "./sources.ts";

export type DiscoveryOptions = {
  /** Addresses that are dialled first. */
  readonly seeds: readonly string[];
  /** See `readSources`. */
  readonly sources: readonly string[];
  /** Minimum number of peers, below which discovery searches for more. */
  readonly minPeers: number;
  /** True if peers are requested for further peers, and stored peers are dialled at the start. */
  readonly isOpen: boolean;
};

export type DiscoveryDeps = {
  readonly peerTable: PeerTable;
  readonly candidates: Pick<Candidates, "dial">;
  readonly ping: Ping;
  readonly client: PeerClient;
  readonly store: PeerStore;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly logger: Logger;
};

export type PingRound = {
  /** Pings also peers whose last verification is recent. */
  readonly isForced: boolean;
  readonly withinMs: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
};

export type Discovery = {
  /** Settles after the first round. */
  start(): Promise<void>;
  /** Verifies every peer again and drops peers that fail; settles after `withinMs` at the latest. */
  pingAll(round: PingRound): Promise<void>;
  close(): void;
};

const ROUND_MS = 600_000;
/** Interval of rounds below the minimum of peers: nodes that start together know few of each other. */
const FEW_PEERS_MS = 15_000;
/** Interval of rounds without any peer. */
const NO_PEERS_MS = 5_000;
const QUERIED_PEERS = 8;
const MAX_FROM_EACH = 50;
/** A node that has fewer peers than this share of the announced addresses dials all of them. */
const ENOUGH_SHARE = 0.75;
const MAX_STORED = 100;
const DIALS_PER_TICK = 20;

type State = {
  readonly options: DiscoveryOptions;
  readonly deps: DiscoveryDeps;
  /** Addresses that are dialled first: the seeds of the options and the addresses that the sources list. */
  readonly seeds: Set<string>;
  /** Aborted when discovery is closed. */
  readonly closed: AbortSignal;
  /** True until the first round has ended. */
  isFirst: boolean;
  /** The next round. */
  timer: NodeJS.Timeout | undefined;
};

export function createDiscovery(options: DiscoveryOptions, deps: DiscoveryDeps): Discovery {
  const closing = new AbortController();
  const state: State = {
    options,
    deps,
    seeds: new Set(options.seeds),
    closed: closing.signal,
    isFirst: true,
    timer: undefined,
  };
  return {
    start() {
      // The start does not wait for the sources: one may be slow or unreachable.
      void addSources(state);
      return runRounds(state);
    },
    pingAll: (round) => pingAll(state, round),
    close() {
      closing.abort();
      clearTimeout(state.timer);
    },
  };
}

async function runRounds(state: State): Promise<void> {
  const { peerTable, logger } = state.deps;
  try {
    await runRound(state);
  } catch (err) {
    logger.error({ err }, "failed to discover peers; retrying");
  }
  if (state.closed.aborted) return;
  const delayMs =
    peerTable.all().length === 0 ? NO_PEERS_MS : isBelowMinimum(state) ? FEW_PEERS_MS : ROUND_MS;
  state.timer = setTimeout(runRounds, delayMs, state);
}

/** Dials new addresses if needed, then verifies the peers and probes their ports. */
async function runRound(state: State): Promise<void> {
  const { options, deps, closed } = state;
  const { peerTable, store, logger } = deps;
  if (isBelowMinimum(state)) await submitSeeds(state);
  const queried = options.isOpen ? sample(peerTable.all(), QUERIED_PEERS) : [];
  const announced = new Set((await Promise.all(queried.map(({ ip }) => requestPeers(deps, ip)))).flat());
  if (needsCandidates(state, announced.size)) await dialAll(deps, [...announced]);
  await pingAll(state, { isForced: false, withinMs: TIMES_MS.verification, signal: closed });
  const peers = peerTable.all();
  const probed = state.isFirst ? peers : sample(peers, Math.ceil(peers.length / 2));
  await probePorts(probed, peerTable, closed);
  if (closed.aborted) return;
  state.isFirst = false;
  store.saw(
    peers.map(({ ip }) => ip),
    deps.nowMs(),
  );
  const height = networkHeight(peers.map((peer) => peer.height));
  logger.info({ peers: peers.length, networkHeight: height }, "peers discovered");
}

const isBelowMinimum = ({ options, deps }: State): boolean => deps.peerTable.all().length < options.minPeers;

const needsCandidates = (state: State, announced: number): boolean =>
  state.isFirst || isBelowMinimum(state) || state.deps.peerTable.all().length < announced * ENOUGH_SHARE;

async function submitSeeds({ options, deps, seeds, isFirst }: State): Promise<void> {
  const { candidates, store } = deps;
  const stored = isFirst && options.isOpen ? store.known(MAX_STORED) : [];
  await Promise.all([
    ...[...seeds].map((seed) => candidates.dial(seed, { isSeed: true })),
    ...stored.map((ip) => candidates.dial(ip)),
  ]);
}

async function addSources({ options, deps, seeds, closed }: State): Promise<void> {
  const listed = await readSources(options.sources, deps.logger, closed);
  if (closed.aborted) return;
  for (const ip of listed) seeds.add(ip);
  await Promise.all(listed.map((ip) => deps.candidates.dial(ip, { isSeed: true })));
}

async function requestPeers({ client }: DiscoveryDeps, ip: string): Promise<string[]> {
  const limits = { timeoutMs: TIMES_MS.smallReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
  const announced = await client.request(ip, "p2p.peer.getPeers", {}, limits).catch(() => []);
  return sample(announced, MAX_FROM_EACH).map((peer) => peer.ip);
}

/** A few in one tick of the event loop: each is compared with all peers. */
async function dialAll({ candidates }: DiscoveryDeps, announced: readonly string[]): Promise<void> {
  const dialled: Promise<boolean>[] = [];
  for (let at = 0; at < announced.length; at += DIALS_PER_TICK) {
    if (at > 0) await nextTick();
    for (const ip of announced.slice(at, at + DIALS_PER_TICK)) dialled.push(candidates.dial(ip));
  }
  await Promise.all(dialled);
}

async function pingAll(state: State, { isForced, withinMs, signal }: PingRound): Promise<void> {
  if (signal?.aborted) return;
  const pings = state.deps.peerTable.all().map(({ ip }) => pingOrDrop(state, ip, isForced));
  const { promise: late, resolve: end } = Promise.withResolvers<void>();
  const timeout = setTimeout(end, withinMs);
  const stop = () => end();
  signal?.addEventListener("abort", stop);
  await Promise.race([Promise.all(pings), late]);
  clearTimeout(timeout);
  signal?.removeEventListener("abort", stop);
}

async function pingOrDrop({ deps, closed }: State, ip: string, isForced: boolean): Promise<void> {
  const { ping, client, peerTable, logger } = deps;
  try {
    await ping(ip, { isForced });
  } catch (error) {
    if (closed.aborted) return;
    logger.debug({ ip, reason: (error as Error).message }, "peer dropped");
    client.disconnect(ip);
    peerTable.remove(ip);
  }
}

const PROBE_TIMEOUT_MS = 1_500;
const NOT_REACHABLE = -1;
const OK_LINE = /^HTTP\/1\.[01] 200[ \r]/;
const LINE_LENGTH = "HTTP/1.1 200 ".length;
/** Peers whose probes begin in one tick of the event loop; each may announce 32 services. */
const PEERS_PER_TICK = 16;

/** Probes the announced ports of peers and stores the results in the peer table. */
export async function probePorts(
  peers: readonly Peer[],
  peerTable: PeerTable,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const probes: Promise<void>[] = [];
  for (let at = 0; at < peers.length && !signal.aborted; at += PEERS_PER_TICK) {
    if (at > 0) await nextTick();
    for (const peer of peers.slice(at, at + PEERS_PER_TICK)) probes.push(probePeer(peer, peerTable, signal));
  }
  await Promise.all(probes);
}

async function probePeer({ ip, status }: Peer, peerTable: PeerTable, signal: AbortSignal): Promise<void> {
  const plugins = Object.entries(status.config.plugins).filter(([, { enabled }]) => enabled);
  const tried = plugins.map(
    async ([name, { port }]): Promise<[string, number]> => [
      name,
      (await isReachable(ip, port, signal)) ? port : NOT_REACHABLE,
    ],
  );
  peerTable.update(ip, { ports: Object.fromEntries(await Promise.all(tried)) });
}

/** Reads only the first line of the response: a peer could send interim responses and headers without an end. */
async function isReachable(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  const socket = connect({
    host,
    port,
    signal: AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]),
  });
  socket.write(`HEAD / HTTP/1.1\r\nhost: ${isIP(host) === 6 ? `[${host}]` : host}:${port}\r\n\r\n`);
  let text = "";
  try {
    for await (const bytes of socket as AsyncIterable<Buffer>) {
      text += bytes.toString("latin1", 0, LINE_LENGTH);
      if (text.length >= LINE_LENGTH) break;
    }
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
  return OK_LINE.test(text);
}
