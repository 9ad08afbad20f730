/** Probes which of the services that a peer announces are reachable (p2p.md 10.6). Without effect on the protocol. */

import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { setImmediate as nextTick } from "node:timers/promises";
import type { Peer } from "../table/peer.ts";
import type { PeerTable } from "../table/peer-table.ts";

const TIMEOUT_MS = 1_500;
const NOT_REACHABLE = -1;
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

/** Uses the HTTP client that the peer server has loaded: another one would be loaded during the synchronisation. */
async function isReachable(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  const probe = request({
    host,
    port,
    method: "HEAD",
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    agent: false,
  }).end();
  // The probe reads only the first line of the response; errors after it are ignored.
  probe.on("error", () => {});
  try {
    const [response] = (await once(probe, "response")) as [IncomingMessage];
    return response.statusCode === 200;
  } catch {
    return false;
  } finally {
    probe.destroy();
  }
}
