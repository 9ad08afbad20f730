/** Finding peers and leaving those that are gone (p2p.md 10.2 and 10.6). */
import type { Logger } from "pino";
import type { PeerStore } from "../../store/node/peers.ts";
import { networkHeight } from "../table/network-height.ts";
import type { PeerTable } from "../table/peer-table.ts";
import { sample } from "../table/sample.ts";
import type { PeerClient } from "../transport/client.ts";
import { CLIENT_MESSAGE_BYTES, TIMES_MS } from "../wire/limits.ts";
import type { Candidates } from "./candidates.ts";
import type { Ping } from "./ping.ts";
import { probePorts } from "./ports.ts";
import { readSources } from "./sources.ts";

export type DiscoveryOptions = {
  /** Addresses to begin with. */
  readonly seeds: readonly string[];
  /** See `readSources`. */
  readonly sources: readonly string[];
  /** Below so many peers, more are looked for. */
  readonly minPeers: number;
  /** Whether peers are asked for others, and those of earlier days are tried again. */
  readonly isOpen: boolean;
};

export type DiscoveryDeps = {
  readonly peerTable: PeerTable;
  readonly candidates: Pick<Candidates, "submit">;
  readonly ping: Ping;
  readonly client: PeerClient;
  readonly store: PeerStore;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly logger: Logger;
};

export type Discovery = {
  /** Settles after the first round. */
  start(): Promise<void>;
  /** Verifies every peer anew, for at most so long; those that fail are left. */
  pingAll(options: { isForced: boolean; withinMs: number }): Promise<void>;
  close(): void;
};

const ROUND_MS = 600_000;
/** Nodes that start together know few of each other at first. */
const SHORT_OF_PEERS_MS = 15_000;
/** While there is nobody at all. */
const ALONE_MS = 5_000;
const ASKED_PEERS = 8;
const TAKEN_OF_EACH = 50;
/** A node whose peers are fewer than this share of those it hears of looks at all of them. */
const ENOUGH_OF_KNOWN = 0.75;
const REMEMBERED = 100;

export function createDiscovery(options: DiscoveryOptions, deps: DiscoveryDeps): Discovery {
  const { peerTable, candidates, client, store, logger } = deps;
  let timer: NodeJS.Timeout | undefined;
  let isFirst = true;
  let isClosed = false;

  const seeds = new Set(options.seeds);

  const isShort = () => peerTable.all().length < options.minPeers;

  async function submitSeeds(): Promise<void> {
    const remembered = isFirst && options.isOpen ? store.known(REMEMBERED) : [];
    await Promise.all([
      ...[...seeds].map((seed) => candidates.submit(seed, { isSeed: true })),
      ...remembered.map((ip) => candidates.submit(ip)),
    ]);
  }

  /** Nobody waits for it: the list may be far away, or gone. */
  async function addSources(): Promise<void> {
    const listed = await readSources(options.sources, logger);
    if (isClosed) return;
    for (const ip of listed) seeds.add(ip);
    await Promise.all(listed.map((ip) => candidates.submit(ip, { isSeed: true })));
  }

  async function requestPeers(ip: string): Promise<string[]> {
    const limits = { timeoutMs: TIMES_MS.smallReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
    const told = await client.request(ip, "p2p.peer.getPeers", {}, limits).catch(() => []);
    return sample(told, TAKEN_OF_EACH).map((peer) => peer.ip);
  }

  async function round(): Promise<void> {
    if (isShort()) await submitSeeds();
    const asked = options.isOpen ? sample(peerTable.all(), ASKED_PEERS) : [];
    const told = new Set((await Promise.all(asked.map(({ ip }) => requestPeers(ip)))).flat());
    const mustLook = isFirst || isShort() || peerTable.all().length < told.size * ENOUGH_OF_KNOWN;
    if (mustLook) await Promise.all([...told].map((ip) => candidates.submit(ip)));
    await pingAll({ isForced: false, withinMs: TIMES_MS.verification });
    const peers = peerTable.all();
    await probePorts(isFirst ? peers : sample(peers, Math.ceil(peers.length / 2)), peerTable);
    isFirst = false;
    store.saw(
      peers.map(({ ip }) => ip),
      deps.nowMs(),
    );
    const height = networkHeight(peers.map((peer) => peer.height));
    logger.info({ peers: peers.length, networkHeight: height }, "peers discovered");
  }

  async function pingAll({ isForced, withinMs }: { isForced: boolean; withinMs: number }): Promise<void> {
    const pings = peerTable.all().map(({ ip }) => clean(ip, isForced));
    let timeout: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timeout = setTimeout(resolve, withinMs);
    });
    await Promise.race([Promise.all(pings), late]);
    clearTimeout(timeout);
  }

  async function clean(ip: string, isForced: boolean): Promise<void> {
    try {
      await deps.ping(ip, { isForced });
    } catch (error) {
      if (isClosed) return;
      logger.debug({ ip, reason: (error as Error).message }, "peer left");
      client.disconnect(ip);
      peerTable.remove(ip);
    }
  }

  async function turn(): Promise<void> {
    try {
      await round();
    } catch (err) {
      logger.error({ err }, "looking for peers failed");
    }
    if (isClosed) return;
    const delayMs = peerTable.all().length === 0 ? ALONE_MS : isShort() ? SHORT_OF_PEERS_MS : ROUND_MS;
    timer = setTimeout(turn, delayMs);
  }

  return {
    start() {
      void addSources();
      return turn();
    },
    pingAll,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
