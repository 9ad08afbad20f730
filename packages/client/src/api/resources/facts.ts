/** `/facts`: the tree of final facts (facts.md). */

import { path } from "../request.ts";
import type { ApiResponse } from "../responses.ts";
import type { Send } from "../send.ts";

export type FactsCheckpoint = {
  /** Leaves of the tree. */
  readonly size: number;
  /** 64 hexadecimal digits. */
  readonly root: string;
  /** Height of the last block of the tree; 0 if it has none. */
  readonly height: number;
  readonly id: string | null;
  /** The checkpoint, signed by the node (C2SP tlog-checkpoint). */
  readonly note: string;
  /** Key for verifying the note (C2SP signed-note). */
  readonly verifierKey: string;
};

export type FactLeaf = {
  readonly height: number;
  /** Position of the fact in its block, from 0. */
  readonly index: number;
  /** Name of the event. */
  readonly event: string;
  /** SHA-256 of the canonical content, 64 hexadecimal digits. */
  readonly content: string;
  /** The leaf, as it is hashed. */
  readonly text: string;
  readonly hash: string;
};

export type FactProof = {
  readonly index: number;
  readonly size: number;
  readonly root: string;
  readonly leaf: FactLeaf;
  /** Hashes from the leaf up (RFC 6962). */
  readonly proof: readonly string[];
};

export type FactsConsistency = {
  readonly from: number;
  readonly to: number;
  readonly proof: readonly string[];
};

export const facts = (send: Send) => ({
  checkpoint: () => send<ApiResponse<FactsCheckpoint>>({ path: "/facts/checkpoint" }),
  /** A leaf, and the proof that the current tree, or the tree of this size, contains it. */
  proof: (index: number, query: { readonly size?: number } = {}) =>
    send<ApiResponse<FactProof>>({ path: path`/facts/${index}/proof`, query }),
  /** The proof that the tree of one size is the beginning of the tree of another. */
  consistency: (from: number, to: number) =>
    send<ApiResponse<FactsConsistency>>({ path: "/facts/consistency", query: { from, to } }),
});
