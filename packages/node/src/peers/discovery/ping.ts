/** Ping: requests the status of a peer and verifies it (p2p.md 10.4). */
import type { PeerTable } from "../peer-table.ts";
import type { PeerClient } from "../transport/client.ts";
import { type RequestPeer, unverified, type VerifyDeps, verifyChain } from "../verify-chain.ts";
import { allowedVersions, isVersionAllowed } from "../versions.ts";
import { CLIENT_MESSAGE_BYTES, TIMES_MS } from "../wire/limits.ts";

export type PingDeps = VerifyDeps & {
  readonly peerTable: PeerTable;
  readonly request: PeerClient["request"];
  /** Random text that identifies this process. */
  readonly processId: string;
};

export type PingOptions = {
  /** Pings even if the last verification is recent. */
  readonly isForced: boolean;
};

/** Requests the status, verifies it, and puts the peer into the peer table. */
export type Ping = (ip: string, options: PingOptions) => Promise<void>;

/** A verification is recent within this time. */
const FRESH_MS = 120_000;

/** @throws {CodedError} PEER_UNVERIFIED, or a `PeerError`, from the function that it returns */
export function createPing(deps: PingDeps): Ping {
  const { peerTable, network } = deps;
  /** Pings under way, by address: at most one for each. */
  const running = new Map<string, Promise<void>>();

  async function ping(ip: string): Promise<void> {
    const request: RequestPeer = (event, argument, limits) => deps.request(ip, event, argument, limits);
    const limits = { timeoutMs: TIMES_MS.smallReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
    let sentAt = 0;
    const status = await deps.request(ip, "p2p.peer.getStatus", {}, limits, () => {
      sentAt = performance.now();
    });
    const latencyMs = performance.now() - sentAt;
    const { version, network: peerNetwork } = status.config;
    // A node may not know all its own addresses, such as that of its router.
    if (status.processId === deps.processId) throw unverified("it is this node itself");
    if (peerNetwork.nethash !== network.description.nethash) {
      throw unverified(`it is a node of another network (${peerNetwork.name})`);
    }
    const ranges = allowedVersions(network, deps.head().height);
    if (!isVersionAllowed(version, ranges, network.description.name)) {
      throw unverified(`its version ${version} is not in ${ranges.join(", ")}`);
    }
    const verification = await withDeadline(verifyChain(status, request, deps), TIMES_MS.verification);
    const { height } = status.state;
    const ports = peerTable.get(ip)?.ports ?? {};
    peerTable.put({ ip, status, height, latencyMs, verification, verifiedAt: performance.now(), ports });
  }

  return (ip, { isForced }) => {
    const known = peerTable.get(ip);
    if (known && !isForced && performance.now() - known.verifiedAt < FRESH_MS) return Promise.resolve();
    const pinging = running.get(ip) ?? ping(ip).finally(() => running.delete(ip));
    running.set(ip, pinging);
    return pinging;
  };
}

async function withDeadline<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unverified("its verification takes too long")), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
