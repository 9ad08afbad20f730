/** Facts of the chain as a node streams them, and their content in the tree of facts (facts.md 1 and 2). */
import { bytesToHex, canonicalJson, sha256 } from "@uniknode/protocol";
import type { StreamedEvent } from "../../api/resources/events.ts";
import { isRecord } from "../values.ts";

/** Events that are leaves of the tree of facts. */
export const LEAF_EVENTS: ReadonlySet<string> = new Set([
  ...["forger.missing", "round.missed", "round.created", "round.applied"],
  ...["transaction.applied", "delegate.registered", "delegate.resigned"],
  ...["wallet.vote", "wallet.unvote"],
  ...["unik.minted", "unik.transferred", "unik.updated", "unik.disclosed", "block.applied"],
]);

/** Returns true if one of the names, or a pattern such as `transaction.*`, selects an event. */
export const selects = (names: readonly string[], event: string): boolean =>
  names.some((name) => name === event || (name.endsWith("*") && event.startsWith(name.slice(0, -1))));

/** Returns the SHA-256 of the canonical content of a fact. */
export const contentHash = ({ event, id, data }: StreamedEvent): string =>
  bytesToHex(sha256(new TextEncoder().encode(canonicalJson({ data: leafData(event, data), id }))));

/**
 * Returns the part of the content that follows from the chain alone: deliveries contain the wallets of delegates at that time, and a
 * stream of past blocks does not.
 */
export function leafData(event: string, data: unknown): unknown {
  if (event === "forger.missing" || event === "round.missed") {
    const delegate = isRecord(data) ? data.delegate : undefined;
    return { delegate: { publicKey: isRecord(delegate) ? delegate.publicKey : undefined } };
  }
  if (event !== "round.created" || !Array.isArray(data)) return data;
  return data.map((row: unknown) =>
    isRecord(row) ? { publicKey: row.publicKey, round: row.round, votes: row.votes } : row,
  );
}
