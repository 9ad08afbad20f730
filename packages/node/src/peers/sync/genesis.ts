/** The genesis block from another node of this kind: old nodes never serve it (p2p.md 7.4). */
import { createNetwork, genesisBlockFromJson, type NetworkFiles } from "@uniknode/protocol";
import { sample } from "../table/sample.ts";
import { createPeerClient, type PeerClient, type PeerClientOptions } from "../transport/client.ts";
import { CLIENT_MESSAGE_BYTES, TIMES_MS } from "../wire/limits.ts";

export type GenesisSearch = PeerClientOptions & {
  /** Addresses to begin with. */
  readonly seeds: readonly string[];
};

/** Nodes that are asked at a time, and altogether. */
const ASKED_AT_ONCE = 8;
const MAX_ASKED = 64;

/**
 * Asks the seeds, and the peers that they know, until one gives the genesis block of the network. Its content is
 * proved by the nethash. Undefined if nobody has it to give.
 */
export async function fetchGenesis(
  search: GenesisSearch,
  files: NetworkFiles,
): Promise<Record<string, unknown> | undefined> {
  const network = createNetwork(files);
  const client = createPeerClient(search, { network, onHeight: () => {} });
  const waiting = [...search.seeds];
  const heard = new Set(waiting);
  try {
    for (let asked = 0; asked < MAX_ASKED && waiting.length > 0; asked += ASKED_AT_ONCE) {
      const group = waiting.splice(0, ASKED_AT_ONCE);
      const found = await Promise.all(group.map((ip) => requestGenesis(ip, client).catch(() => undefined)));
      const proved = found.find((json) => json !== undefined && isGenesis(json));
      if (proved) return proved;
      const told = (await Promise.all(group.map((ip) => requestPeers(ip, client)))).flat();
      for (const ip of sample(told, MAX_ASKED)) {
        if (!heard.has(ip)) waiting.push(ip);
        heard.add(ip);
      }
    }
    return undefined;
  } finally {
    client.close();
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

/** Undefined from an old node, which would take the question for an offence. */
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
