/** Asking a peer how it is, and verifying what it says (p2p.md 10.4). */
import type { PeerTable } from "../table/peer-table.ts";
import type { PeerClient } from "../transport/client.ts";
import {
  type RequestPeer,
  VerificationError,
  type VerifyDeps,
  verifyChain,
} from "../verification/verify-chain.ts";
import { CLIENT_MESSAGE_BYTES, TIMES_MS } from "../wire/limits.ts";
import { allowedVersions, isVersionAllowed } from "./version-gate.ts";

export type PingDeps = VerifyDeps & {
  readonly peerTable: PeerTable;
  readonly request: PeerClient["request"];
  /** Random text of this process. */
  readonly processId: string;
};

export type PingOptions = {
  /** Also if the last verification is young. */
  readonly isForced: boolean;
};

/** Asks and verifies; the register knows the peer afterwards. */
export type Ping = (ip: string, options: PingOptions) => Promise<void>;

/** A peer is not asked again within this time. */
const FRESH_MS = 120_000;

/** @throws {VerificationError | PeerError} from the function that it makes */
export function createPing(deps: PingDeps): Ping {
  const { peerTable, network } = deps;
  /** A peer is asked once at a time. */
  const running = new Map<string, Promise<void>>();

  async function ping(ip: string): Promise<void> {
    const request: RequestPeer = (event, argument, limits) => deps.request(ip, event, argument, limits);
    const limits = { timeoutMs: TIMES_MS.smallReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
    let askedAt = 0;
    const status = await deps.request(ip, "p2p.peer.getStatus", {}, limits, () => {
      askedAt = performance.now();
    });
    const latencyMs = performance.now() - askedAt;
    const { version, network: told } = status.config;
    // An address of its own that a node does not know, such as that of its router.
    if (status.processId === deps.processId) throw new VerificationError("it is this node itself");
    if (told.nethash !== network.description.nethash) {
      throw new VerificationError(`it is a node of another network (${told.name})`);
    }
    const ranges = allowedVersions(network, deps.head().height);
    if (!isVersionAllowed(version, ranges, network.description.name)) {
      throw new VerificationError(`its version ${version} is none of ${ranges.join(", ")}`);
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
    timer = setTimeout(() => reject(new VerificationError("its verification takes too long")), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
