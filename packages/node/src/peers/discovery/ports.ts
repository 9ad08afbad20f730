/** Probes which of the services that a peer announces are reachable (p2p.md 10.6). Without effect on the protocol. */
import type { Peer } from "../table/peer.ts";
import type { PeerTable } from "../table/peer-table.ts";

const TIMEOUT_MS = 1_500;
const NOT_REACHABLE = -1;

/** Probes the announced ports of peers and stores the results in the peer table. */
export async function probePorts(peers: readonly Peer[], peerTable: PeerTable): Promise<void> {
  await Promise.all(
    peers.map(async ({ ip, status }) => {
      const plugins = Object.entries(status.config.plugins).filter(([, { enabled }]) => enabled);
      const tried = plugins.map(
        async ([name, { port }]): Promise<[string, number]> => [
          name,
          (await isReachable(ip, port)) ? port : NOT_REACHABLE,
        ],
      );
      peerTable.setPorts(ip, Object.fromEntries(await Promise.all(tried)));
    }),
  );
}

async function isReachable(ip: string, port: number): Promise<boolean> {
  const host = ip.includes(":") ? `[${ip}]` : ip;
  // Loaded after the start, when there are peers.
  const { request } = await import("undici");
  try {
    const { statusCode, body } = await request(`http://${host}:${port}/`, {
      method: "HEAD",
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
}
