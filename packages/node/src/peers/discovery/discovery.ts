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
import type { Candidates, Ping } from "./candidates.ts";
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
  readonly client: Pick<PeerClient, "request" | "disconnect">;
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

const ROUND_MS = 600_000;
/** Interval at which a start that waits for its first round checks whether there are enough peers. */
const START_MS = 10_000;
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

export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #deps: DiscoveryDeps;
  /** Addresses that are dialled first: the seeds of the options and the addresses that the sources list. */
  readonly #seeds: Set<string>;
  readonly #closing = new AbortController();
  /** True until the first round has ended. */
  #isFirst = true;
  /** The next round. */
  #timer: NodeJS.Timeout | undefined;

  constructor(options: DiscoveryOptions, deps: DiscoveryDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#seeds = new Set(options.seeds);
  }

  /**
   * Settles after the first round. If a slow address delays the round, it settles as soon as there are enough peers: with
   * fewer, the node could take an old head for that of the network.
   */
  async start(): Promise<void> {
    // The start does not wait for the sources: one may be slow or unreachable.
    void this.#addSources();
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    const timer = setInterval(() => {
      if (this.#deps.peerTable.all().length > 0 && !this.#isBelowMinimum()) resolve();
    }, START_MS);
    await Promise.race([this.#runRounds(), enough]);
    clearInterval(timer);
  }

  /** Verifies every peer again and drops peers that fail; settles after `withinMs` at the latest. */
  async pingAll({ isForced, withinMs, signal }: PingRound): Promise<void> {
    if (signal?.aborted) return;
    const pings = this.#deps.peerTable.all().map(({ ip }) => this.#pingOrDrop(ip, isForced));
    const { promise: late, resolve: end } = Promise.withResolvers<void>();
    const timeout = setTimeout(end, withinMs);
    const stop = () => end();
    signal?.addEventListener("abort", stop);
    await Promise.race([Promise.all(pings), late]);
    clearTimeout(timeout);
    signal?.removeEventListener("abort", stop);
  }

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#timer);
  }

  async #runRounds(): Promise<void> {
    const { peerTable, logger } = this.#deps;
    try {
      await this.#runRound();
    } catch (err) {
      logger.error({ err }, "failed to discover peers; retrying");
    }
    if (this.#closing.signal.aborted) return;
    const delayMs =
      peerTable.all().length === 0 ? NO_PEERS_MS : this.#isBelowMinimum() ? FEW_PEERS_MS : ROUND_MS;
    this.#timer = setTimeout(() => this.#runRounds(), delayMs);
  }

  /** Dials new addresses if needed, then verifies the peers and probes their ports. */
  async #runRound(): Promise<void> {
    const { signal: closed } = this.#closing;
    const { peerTable, store, logger } = this.#deps;
    if (this.#isBelowMinimum()) await this.#submitSeeds();
    const queried = this.#options.isOpen ? sample(peerTable.all(), QUERIED_PEERS) : [];
    const announced = new Set((await Promise.all(queried.map(({ ip }) => this.#requestPeers(ip)))).flat());
    if (this.#needsCandidates(announced.size)) await this.#dialAll([...announced]);
    await this.pingAll({ isForced: false, withinMs: TIMES_MS.verification, signal: closed });
    const peers = peerTable.all();
    const probed = this.#isFirst ? peers : sample(peers, Math.ceil(peers.length / 2));
    await probePorts(probed, peerTable, closed);
    if (closed.aborted) return;
    this.#isFirst = false;
    store.saw(
      peers.map(({ ip }) => ip),
      this.#deps.nowMs(),
    );
    const height = networkHeight(peers.map((peer) => peer.height));
    logger.info({ peers: peers.length, networkHeight: height }, "peers discovered");
  }

  #isBelowMinimum(): boolean {
    return this.#deps.peerTable.all().length < this.#options.minPeers;
  }

  #needsCandidates(announced: number): boolean {
    return (
      this.#isFirst || this.#isBelowMinimum() || this.#deps.peerTable.all().length < announced * ENOUGH_SHARE
    );
  }

  async #submitSeeds(): Promise<void> {
    const seeds = this.#seeds;
    const { candidates, store } = this.#deps;
    const stored = this.#isFirst && this.#options.isOpen ? store.known(MAX_STORED) : [];
    await Promise.all([
      ...[...seeds].map((seed) => candidates.dial(seed, { isSeed: true })),
      ...stored.map((ip) => candidates.dial(ip)),
    ]);
  }

  async #addSources(): Promise<void> {
    const { signal: closed } = this.#closing;
    const listed = await readSources(this.#options.sources, this.#deps.logger, closed);
    if (closed.aborted) return;
    for (const ip of listed) this.#seeds.add(ip);
    await Promise.all(listed.map((ip) => this.#deps.candidates.dial(ip, { isSeed: true })));
  }

  async #requestPeers(ip: string): Promise<string[]> {
    const limits = { timeoutMs: TIMES_MS.smallReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
    const announced = await this.#deps.client.request(ip, "p2p.peer.getPeers", {}, limits).catch(() => []);
    return sample(announced, MAX_FROM_EACH).map((peer) => peer.ip);
  }

  /** A few in one tick of the event loop: each is compared with all peers. */
  async #dialAll(announced: readonly string[]): Promise<void> {
    const dialled: Promise<boolean>[] = [];
    for (let at = 0; at < announced.length; at += DIALS_PER_TICK) {
      if (at > 0) await nextTick();
      for (const ip of announced.slice(at, at + DIALS_PER_TICK)) dialled.push(this.#deps.candidates.dial(ip));
    }
    await Promise.all(dialled);
  }

  async #pingOrDrop(ip: string, isForced: boolean): Promise<void> {
    const { signal: closed } = this.#closing;
    const { ping, client, peerTable, logger } = this.#deps;
    try {
      await ping(ip, { isForced });
    } catch (error) {
      if (closed.aborted) return;
      logger.debug({ ip, reason: (error as Error).message }, "peer dropped");
      client.disconnect(ip);
      peerTable.remove(ip);
    }
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
