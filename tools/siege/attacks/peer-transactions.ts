/** Peers that post the most expensive refused transactions at the maximum rate of a peer. */
import type { Socket } from "node:net";
import { writeCall } from "../../../packages/node/src/peers/wire/requests/write.ts";
import type { Attack } from "../attack-definition.ts";
import { submissionOf } from "../junk-transactions.ts";
import { registerWallet } from "../multisignature-wallet.ts";
import { frame, HELLO } from "../peer-frames.ts";
import { createConnections, repeatPaced } from "../requests.ts";
import { mixedBatches } from "./admissions.ts";

const PEERS = 12;
const PER_SECOND = 90;
/** Unsent bytes above which a peer pauses, because the node does not read it. */
const MAX_UNSENT_BYTES = 4_000_000;

/** A message without transactions, and the position to insert them. */
const EMPTY = writeCall("p2p.peer.postTransactions", { transactions: [] });
const PLACE = '{"transactions":[]}';

export const peerTransactions: Attack = {
  name: "peer transactions",
  description: `unsigned payments and junk multisignatures from ${PEERS} peers, ${PER_SECOND} messages of each in a second`,
  prepare: registerWallet,
  async run({ host, peerPort, ...target }, tally, signal) {
    const next = mixedBatches({ host, peerPort, ...target });
    const connections = createConnections({ offered() {}, refused: tally.refused });
    const sockets = new Map<string, Socket>();
    // In separate subnets.
    const peers = Array.from({ length: PEERS }, (_, index) => `127.55.${index}.1`);
    const connected = (peer: string): Socket => {
      const known = sockets.get(peer);
      if (known && !known.destroyed) return known;
      const socket = connections.open(host, peerPort, peer, HELLO);
      socket.resume();
      sockets.set(peer, socket);
      return socket;
    };
    await repeatPaced(peers, { perMinute: PER_SECOND * 60 }, signal, async (peer) => {
      const socket = connected(peer);
      if (socket.connecting || socket.writableLength > MAX_UNSENT_BYTES) return;
      tally.offered();
      socket.write(frame(EMPTY.replace(PLACE, submissionOf(next()))));
    });
    connections.closeAll();
  },
};
