/** Events of this node rather than of the chain: its forger, its peers, its start (events.md 3.4, 3.6 and 3.7). */
import type { Block, BlockHeader } from "@uniknode/protocol";
import type { Event } from "./catalogue.ts";
import { blockData, transactionData } from "./content.ts";

/**
 * `block.forged`, then `transaction.forged` for each of its transactions if they are recorded: the content of a
 * full block has tens of thousands of members.
 */
export function eventsOfForging(
  { header, transactions }: Block,
  isRecorded: (name: string) => boolean,
): Event[] {
  const source = { height: header.height, blockId: header.id };
  const block: Event = {
    id: `block.forged:${header.id}`,
    name: "block.forged",
    ...source,
    data: blockData(header),
  };
  if (!isRecorded("transaction.forged")) return [block];
  const forged = transactions.map(({ data }, sequence) => ({
    id: `transaction.forged:${header.id}:${sequence}`,
    name: "transaction.forged",
    ...source,
    data: transactionData(data),
  }));
  return [block, ...forged];
}

/** `publicKeys`: of all configured delegates, active or not. Times are milliseconds since 1970. */
export const eventOfForgerStart = (publicKeys: readonly string[], atMs: number): Event => ({
  id: `forger.started:${atMs}`,
  name: "forger.started",
  data: { activeDelegates: [...publicKeys] },
});

export const eventOfForgerFailure = (error: Error, atMs: number): Event => ({
  id: `forger.failed:${atMs}`,
  name: "forger.failed",
  data: { error: error.message },
});

/** An event that a separate forger sends to its relay (forger.md 6); `body.id` is the id of a block or transaction. */
export const eventOfSeparateForger = (
  name: string,
  body: Readonly<Record<string, unknown>>,
  atMs: number,
): Event => ({ id: `${name}:${typeof body.id === "string" ? body.id : atMs}`, name, data: body });

/** The node is synchronised for the first time since its start. */
export const eventOfStart = (atMs: number): Event => ({
  id: `state.started:${atMs}`,
  name: "state.started",
  data: true,
});

/** The public fields of a peer. */
export type PeerView = {
  readonly ip: string;
  readonly port: number;
  /** Port by plugin name; -1 is not reachable. */
  readonly ports: Readonly<Record<string, number>>;
  readonly version?: string;
  readonly latencyMs?: number;
  /** Time of its last verification, milliseconds since 1970. */
  readonly lastPingedMs: number;
  /** Result of comparing the chains in the last verification. */
  readonly verification: {
    readonly myHeight: number;
    readonly hisHeight: number;
    readonly highestCommonHeight: number;
  };
  readonly plugins: Readonly<Record<string, { readonly port: number; readonly enabled: boolean }>>;
  readonly state: {
    readonly height: number;
    readonly forgingAllowed: boolean;
    readonly currentSlot: number;
    readonly header?: BlockHeader;
  };
};

export const eventOfPeer = (peer: PeerView, change: "added" | "removed", atMs: number): Event => {
  const { header, ...state } = peer.state;
  return {
    id: `peer.${change}:${peer.ip}:${peer.port}:${atMs}`,
    name: `peer.${change}`,
    data: {
      ip: peer.ip,
      port: peer.port,
      ports: { ...peer.ports },
      ...(peer.version !== undefined && { version: peer.version }),
      ...(peer.latencyMs !== undefined && { latency: peer.latencyMs }),
      plugins: structuredClone(peer.plugins),
      state: { ...state, ...(header && { header: blockData(header) }) },
      lastPinged: new Date(peer.lastPingedMs).toISOString(),
      verificationResult: { ...peer.verification },
    },
  };
};
