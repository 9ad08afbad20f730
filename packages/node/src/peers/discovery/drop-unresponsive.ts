/** Peers that do not answer are left at once (p2p.md 10.6, 16); they come back by another verification. */
import type { PeerTable } from "../table/peer-table.ts";
import type { PeerClient } from "../transport/client.ts";
import { PeerError } from "../transport/error.ts";

/** The same requests, whose failures have consequences for the peer. */
export const dropUnresponsive =
  (
    { request, disconnect }: Pick<PeerClient, "request" | "disconnect">,
    peerTable: PeerTable,
  ): PeerClient["request"] =>
  async (ip, event, argument, limits, onSent) => {
    try {
      return await request(ip, event, argument, limits, onSent);
    } catch (error) {
      // An error that the peer itself answers is no reason, and a queue of ours neither.
      if (error instanceof PeerError && error.code !== "PEER_REFUSED" && error.code !== "PEER_BUSY") {
        disconnect(ip);
        peerTable.remove(ip);
      }
      throw error;
    }
  };
