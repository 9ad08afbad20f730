/** Share of the peers that agree with this node (p2p.md 14); the forgers of these networks do not require it. */

/** `peersNoQuorum` counts the peers above this node's height or on a fork. */
export type Votes = { peersQuorum: number; peersNoQuorum: number };

const MIN_QUORUM = 0.66;

export const quorumOf = ({ peersQuorum, peersNoQuorum }: Votes): number =>
  peersQuorum === 0 ? 0 : peersQuorum / (peersQuorum + peersNoQuorum);

export const isQuorumEnough = (quorum: number): boolean => quorum >= MIN_QUORUM;
