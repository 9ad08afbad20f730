/** Number of peers that a block is sent to (p2p.md 12.1). */

/** Number of observations after which a block is no longer sent. */
const MAX_OBSERVATIONS = 4;

/** Share of the peers, 0 or less for none. */
export const broadcastQuota = (observations: number): number =>
  (MAX_OBSERVATIONS - observations) / MAX_OBSERVATIONS;

export const broadcastRecipients = (observations: number, peers: number): number =>
  Math.max(0, Math.ceil(broadcastQuota(observations) * peers));
