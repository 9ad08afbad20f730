/** The peers that passed their verification, by address, and functions for their branches, heights, headers and random samples. */
import { type BlockHeader, decodeHeader, encodeHeader, type Network } from "@uniknode/protocol";
import type { PeerView } from "../events/node-events.ts";
import type { PeerInfo } from "../gateway/gateway.ts";
import type { ReceivedHeader, ReceivedStatus } from "./wire/replies.ts";
import { WireError } from "./wire/wire-error.ts";

/** Comparison of two chains: heights of both heads, and of the highest block in both. */
export type Verification = {
  readonly myHeight: number;
  /** Claimed by the peer; its head may be signed by any key. */
  readonly hisHeight: number;
  /** Height of the last block of the peer that is on our chain or has a verified header. */
  readonly verifiedHeight: number;
  readonly highestCommonHeight: number;
};

export type Peer = {
  readonly ip: string;
  /** Its last status. */
  readonly status: ReceivedStatus;
  /** Its last claimed height, from the status or the headers of a reply; not verified. */
  readonly height: number;
  /** Milliseconds until its last reply. */
  readonly latencyMs: number;
  /** Time of its last verification: milliseconds of a monotonic clock. */
  readonly verifiedAt: number;
  readonly verification: Verification;
  /** Port of each of its other services that was probed, by name; -1 if not reachable. */
  readonly ports: Readonly<Record<string, number>>;
};

export type PeerChange = "added" | "removed";

export class PeerTable {
  readonly #onChange: (peer: Peer, change: PeerChange) => void;
  readonly #peers = new Map<string, Peer>();

  constructor(onChange: (peer: Peer, change: PeerChange) => void) {
    this.#onChange = onChange;
  }

  get(ip: string): Peer | undefined {
    return this.#peers.get(ip);
  }

  all(): Peer[] {
    return [...this.#peers.values()];
  }

  /** Adds a peer, or replaces its entry. */
  put(peer: Peer): void {
    const isNew = !this.#peers.has(peer.ip);
    this.#peers.set(peer.ip, peer);
    if (isNew) this.#onChange(peer, "added");
  }

  /** Reported for every reason, so that a count of the events is the count of the peers (decision 23). */
  remove(ip: string): void {
    const peer = this.#peers.get(ip);
    if (!peer) return;
    this.#peers.delete(ip);
    this.#onChange(peer, "removed");
  }

  /** Changes the height that a reply claims, or the ports that were probed. */
  update(ip: string, changes: Partial<Pick<Peer, "height" | "ports">>): void {
    const peer = this.#peers.get(ip);
    if (peer) this.#peers.set(ip, { ...peer, ...changes });
  }
}

/** Peers on our branch that claim a higher head than ours. */
export const peersAhead = (peers: readonly Peer[], ownHeight: number): Peer[] =>
  peers.filter((peer) => !isForked(peer) && peer.verification.hisHeight > ownHeight);

/** Returns true if each of the two chains has a block that the other does not have. */
export const isForked = ({ verification }: Peer): boolean => {
  const { myHeight, hisHeight, highestCommonHeight } = verification;
  return highestCommonHeight !== myHeight && highestCommonHeight !== hisHeight;
};

/** Height of the network: the median of the heights that peers claim (p2p.md 13); 0 without peers. */
export function networkHeight(heights: readonly number[]): number {
  const known = heights.filter((height) => height > 0).toSorted((a, b) => a - b);
  return known[Math.floor(known.length / 2)] ?? 0;
}

/** Returns at most `count` of the items, each at most once, in random order: chooses among peers. */
export function sample<T>(items: readonly T[], count: number): T[] {
  const rest = [...items];
  const chosen: T[] = [];
  while (chosen.length < count && rest.length > 0) {
    chosen.push(...rest.splice(Math.floor(Math.random() * rest.length), 1));
  }
  return chosen;
}

export const peerInfo = ({ ip, status, height, latencyMs, ports }: Peer, port: number): PeerInfo => ({
  ip,
  port,
  ports,
  version: status.config.version,
  height,
  latency: Math.round(latencyMs),
});

type ViewContext = {
  /** Port of the network. */
  readonly port: number;
  readonly network: Network;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
};

export function peerView(peer: Peer, { port, network, nowMs }: ViewContext): PeerView {
  const { ip, status, latencyMs, ports, verifiedAt } = peer;
  const { verifiedHeight: _, ...verification } = peer.verification;
  const { header, ...state } = status.state;
  return {
    ip,
    port,
    ports,
    version: status.config.version,
    latencyMs: Math.round(latencyMs),
    plugins: status.config.plugins,
    verification,
    lastPingedMs: Math.round(nowMs - (performance.now() - verifiedAt)),
    state: { ...state, ...(header && { header: headerFromPeer(header, network) }) },
  };
}

/**
 * Decodes a header that a peer sent as JSON, and verifies its id.
 *
 * @throws {WireError} REPLY_FORM if it cannot be encoded, or has another id than the received one
 */
export const headerFromPeer = (received: ReceivedHeader, network: Network): BlockHeader =>
  encodedHeaderFromPeer(received, network).header;

/** Also returns the bytes of the header, from which its id and its signature are computed. */
export function encodedHeaderFromPeer(
  received: ReceivedHeader,
  network: Network,
): { header: BlockHeader; headerBytes: Uint8Array } {
  const { header, headerBytes } = encode(received, network);
  // The id of the genesis block is not the hash of its bytes.
  if (header.height === 1) return { header: { ...header, id: received.id }, headerBytes };
  if (header.id !== received.id)
    throw new WireError("REPLY_FORM", "the id of a header does not match its content");
  return { header, headerBytes };
}

/** The header is decoded from its bytes: members of the JSON may have other forms than the encoded ones. */
function encode(received: ReceivedHeader, network: Network) {
  try {
    const headerBytes = encodeHeader(toHeader(received), network);
    return { header: decodeHeader(headerBytes, network).header, headerBytes };
  } catch (error) {
    throw new WireError("REPLY_FORM", `a header cannot be encoded: ${(error as Error).message}`);
  }
}

/** Missing members that are optional in replies get 0. */
function toHeader(received: ReceivedHeader): BlockHeader {
  const { totalAmount, totalFee, reward, numberOfTransactions = 0, version = 0 } = received;
  const amount = (value: unknown) => BigInt(value as string | number);
  return {
    ...(received as Partial<BlockHeader> as BlockHeader),
    version: version as number,
    numberOfTransactions: numberOfTransactions as number,
    totalAmount: amount(totalAmount),
    totalFee: amount(totalFee),
    reward: amount(reward),
  };
}
