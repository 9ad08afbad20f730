/** How many peers a block is passed on to (p2p.md 12.1). */

/** Sightings after which a block is known well enough. */
const MAX_SIGHTINGS = 4;

/** Share of the peers, 0 or less for none. */
export const broadcastQuota = (sightings: number): number => (MAX_SIGHTINGS - sightings) / MAX_SIGHTINGS;

export const broadcastRecipients = (sightings: number, peers: number): number =>
  Math.max(0, Math.ceil(broadcastQuota(sightings) * peers));
