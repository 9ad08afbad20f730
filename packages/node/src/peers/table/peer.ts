/** A peer as this node knows it. */
import type { ReceivedStatus } from "../wire/replies/received.ts";

/** How two chains compare: heights of the heads, and of the highest block in both. */
export type Verification = {
  readonly myHeight: number;
  readonly hisHeight: number;
  readonly highestCommonHeight: number;
};

export type Peer = {
  readonly ip: string;
  /** What it told of itself last. */
  readonly status: ReceivedStatus;
  /** The height that it told last, here or beside another reply; nobody verified it. */
  readonly height: number;
  /** Milliseconds of its last answer. */
  readonly latencyMs: number;
  /** Moment of its last verification: milliseconds of a steady clock. */
  readonly verifiedAt: number;
  readonly verification: Verification;
  /** Port of each of its other services that was tried; -1 is not reachable. */
  readonly ports: Readonly<Record<string, number>>;
};

/** Peers on our branch that have more of it than we have. */
export const peersAhead = (peers: readonly Peer[], ownHeight: number): Peer[] =>
  peers.filter((peer) => !isForked(peer) && peer.verification.hisHeight > ownHeight);

/** Each of the two heads stands on a block that the other chain does not have. */
export const isForked = ({ verification }: Peer): boolean => {
  const { myHeight, hisHeight, highestCommonHeight } = verification;
  return highestCommonHeight !== myHeight && highestCommonHeight !== hisHeight;
};
