/** Fetches the genesis block from another Uniknode: old nodes never send it (p2p.md 7.4). */
import { createNetwork, genesisBlockFromJson, type NetworkFiles } from "@uniknode/protocol";
import { peerAddress } from "../addresses.ts";
import { sample } from "../peer-table.ts";
import { PeerClient, type PeerClientOptions } from "../transport/client.ts";
import { CLIENT_MESSAGE_BYTES, TIMES_MS } from "../wire/limits.ts";

export type GenesisSearch = PeerClientOptions & {
  /** Addresses that are requested first. */
  readonly seeds: readonly string[];
};

/** Nodes that are requested at a time, and in total. */
const CONCURRENCY = 8;
const MAX_REQUESTED = 64;

/**
 * Requests the genesis block from the seeds and the peers that they know, until one sends it. The nethash verifies its
 * content. Undefined if no node has it, or the signal is aborted.
 */
export async function fetchGenesis(
  search: GenesisSearch,
  files: NetworkFiles,
  signal?: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  const network = createNetwork(files);
  const client = new PeerClient(search, { network, onHeight: () => {} });
  // Requests that wait for a peer fail, and so do all later ones.
  const abort = () => void client.close();
  signal?.addEventListener("abort", abort);
  const candidates = [...search.seeds];
  const known = new Set(candidates);
  try {
    for (let requested = 0; requested < MAX_REQUESTED && candidates.length > 0; requested += CONCURRENCY) {
      if (signal?.aborted) return undefined;
      const group = candidates.splice(0, CONCURRENCY);
      const found = await Promise.all(group.map((ip) => requestGenesis(ip, client).catch(() => undefined)));
      const verified = found.find((json) => json !== undefined && isGenesis(json));
      if (verified) return verified;
      const announced = (await Promise.all(group.map((ip) => requestPeers(ip, client)))).flat();
      for (const ip of sample(announced, MAX_REQUESTED)) {
        if (!known.has(ip) && peerAddress(ip, undefined, true) !== undefined) candidates.push(ip);
        known.add(ip);
      }
    }
    return undefined;
  } finally {
    signal?.removeEventListener("abort", abort);
    await client.close();
  }

  function isGenesis(json: Record<string, unknown>): boolean {
    try {
      genesisBlockFromJson(json, network);
      return true;
    } catch {
      return false;
    }
  }
}

const SMALL = { timeoutMs: TIMES_MS.smallReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
const LARGE = { timeoutMs: TIMES_MS.blocksReply, maxBytes: CLIENT_MESSAGE_BYTES.blocks };

/** Returns undefined for an old node, for which the request would be a violation of the protocol. */
async function requestGenesis(
  ip: string,
  { request }: PeerClient,
): Promise<Record<string, unknown> | undefined> {
  const { isUniknode } = await request(ip, "p2p.peer.getStatus", {}, SMALL);
  return isUniknode ? request(ip, "uniknode.peer.getGenesis", {}, LARGE) : undefined;
}

const requestPeers = (ip: string, { request }: PeerClient): Promise<string[]> =>
  request(ip, "p2p.peer.getPeers", {}, SMALL).then(
    (peers) => peers.map((peer) => peer.ip),
    () => [],
  );
