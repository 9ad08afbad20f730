/** Drops unresponsive peers (p2p.md 10.6, 16); they become peers again by another verification. */
import type { PeerTable } from "../table/peer-table.ts";
import type { PeerClient } from "../transport/client.ts";
import { PeerError } from "../transport/error.ts";

/** The requests of a client, which drop the peer when they fail. */
export const dropUnresponsive =
  (
    { request, disconnect }: Pick<PeerClient, "request" | "disconnect">,
    peerTable: PeerTable,
  ): PeerClient["request"] =>
  async (ip, event, argument, limits, onSent) => {
    try {
      return await request(ip, event, argument, limits, onSent);
    } catch (error) {
      // An error in a reply, or a full queue of our own, is not a reason to drop the peer.
      if (error instanceof PeerError && error.code !== "PEER_REFUSED" && error.code !== "PEER_BUSY") {
        disconnect(ip);
        peerTable.remove(ip);
      }
      throw error;
    }
  };
