/** Share of the peers that agree with this node (p2p.md 14); the forger of this network does not wait for it. */

/** A peer above this node's height or on a fork counts against. */
export type Votes = { peersQuorum: number; peersNoQuorum: number };

const ENOUGH = 0.66;

export const quorumOf = ({ peersQuorum, peersNoQuorum }: Votes): number =>
  peersQuorum === 0 ? 0 : peersQuorum / (peersQuorum + peersNoQuorum);

export const isQuorumEnough = (quorum: number): boolean => quorum >= ENOUGH;
