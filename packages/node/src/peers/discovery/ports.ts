/** Probes which of the services that a peer announces are reachable (p2p.md 10.6). Without effect on the protocol. */

import { connect, isIP } from "node:net";
import { setImmediate as nextTick } from "node:timers/promises";
import type { Peer, PeerTable } from "../peer-table.ts";

const TIMEOUT_MS = 1_500;
const NOT_REACHABLE = -1;
const OK_LINE = /^HTTP\/1\.[01] 200[ \r]/;
const LINE_LENGTH = "HTTP/1.1 200 ".length;
/** Peers whose probes begin in one tick of the event loop; each may announce 32 services. */
const PEERS_PER_TICK = 16;

/** Probes the announced ports of peers and stores the results in the peer table. */
export async function probePorts(
  peers: readonly Peer[],
  peerTable: PeerTable,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const probes: Promise<void>[] = [];
  for (let at = 0; at < peers.length && !signal.aborted; at += PEERS_PER_TICK) {
    if (at > 0) await nextTick();
    for (const peer of peers.slice(at, at + PEERS_PER_TICK)) probes.push(probePeer(peer, peerTable, signal));
  }
  await Promise.all(probes);
}

async function probePeer({ ip, status }: Peer, peerTable: PeerTable, signal: AbortSignal): Promise<void> {
  const plugins = Object.entries(status.config.plugins).filter(([, { enabled }]) => enabled);
  const tried = plugins.map(
    async ([name, { port }]): Promise<[string, number]> => [
      name,
      (await isReachable(ip, port, signal)) ? port : NOT_REACHABLE,
    ],
  );
  peerTable.setPorts(ip, Object.fromEntries(await Promise.all(tried)));
}

/** Reads only the first line of the response: a peer could send interim responses and headers without an end. */
async function isReachable(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  const socket = connect({ host, port, signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) });
  socket.write(`HEAD / HTTP/1.1\r\nhost: ${isIP(host) === 6 ? `[${host}]` : host}:${port}\r\n\r\n`);
  let text = "";
  try {
    for await (const bytes of socket as AsyncIterable<Buffer>) {
      text += bytes.toString("latin1", 0, LINE_LENGTH);
      if (text.length >= LINE_LENGTH) break;
    }
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
  return OK_LINE.test(text);
}
