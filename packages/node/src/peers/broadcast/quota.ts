/** How many peers a block is passed on to (p2p.md 12.1). */

/** Sightings after which a block is known well enough. */
const MAX_SIGHTINGS = 4;

/** Share of the peers, 0 or less for none. */
export const broadcastQuota = (observations: number): number =>
  (MAX_SIGHTINGS - observations) / MAX_SIGHTINGS;

export const broadcastRecipients = (observations: number, peers: number): number =>
  Math.max(0, Math.ceil(broadcastQuota(observations) * peers));
