/** Verdicts of the verifier. */
import type { Checkpoint } from "./checkpoint.ts";
import { type Refused, type RefuseUnless, refuseUnless as refuse } from "./refusal.ts";

/** Steps of the verifier that can fail (proofs.md 4), in their order. */
export type ProofStep =
  /** A member has another form, or exceeds its bound. */
  | "FORM"
  /** The checkpoint is older than 30 days, or lies in the future: a new one is needed. */
  | "CHECKPOINT_AGE"
  /** The proof is of another network than the checkpoint. */
  | "NETWORK"
  /** Bytes are not a header with a full id of its parent. */
  | "HEADER"
  /** A header does not continue the one below it. */
  | "LINK"
  /** A slot is not later than the one below it, or is in the future. */
  | "TIME"
  /** No order of the delegates gives these generators. */
  | "DELEGATE"
  /** The ids do not hash to the payload hash. */
  | "PAYLOAD"
  /** The bytes are not a transaction of the network that the block contains. */
  | "TRANSACTION"
  /** The proof is of another transaction or block than the requested one. */
  | "ID"
  /** The generator did not sign the header. */
  | "SIGNATURE"
  /** An advance is not a complete round above the trusted one. */
  | "ADVANCE_ROUND"
  /** Too few trusted keys signed above an advance. */
  | "ADVANCE_QUORUM"
  /** More than a third of the keys of an advance are new, or too few delegates signed in it. */
  | "ADVANCE_CHANGE"
  /** A block at the height of the checkpoint, or of an advance, is another one. */
  | "CONFLICT";

export type ProvenBlock = {
  readonly id: string;
  readonly height: number;
  /** Seconds since the epoch of the network. */
  readonly timestamp: number;
  /** Unix time in milliseconds. */
  readonly unixMs: number;
  readonly generatorPublicKey: string;
  /** Ids of its transactions, in order. */
  readonly ids: readonly string[];
};

export type ProvenTransaction = {
  readonly id: string;
  /** The signed bytes, hexadecimal: `decodeTransaction` of @uniknode/protocol decodes them. */
  readonly bytes: string;
};

export type Proven = {
  readonly block: ProvenBlock;
  /** Absent in the proof of a block. */
  readonly transaction?: ProvenTransaction;
  /** Number of distinct trusted keys that signed at or above the block. */
  readonly signers: number;
  /** Number of signers that makes the block final. */
  readonly quorum: number;
  /** The latest checkpoint that the proof justifies: store it for the next proof. */
  readonly checkpoint: Checkpoint;
};

/**
 * `final`: two thirds of the delegates signed at or above the block. `included`: the proof is well-formed, but too few
 * trusted keys signed; a single delegate can create such a proof of a block that the network does not have. `refused`: the
 * proof is false, or does not match the checkpoint.
 */
export type ProofVerdict =
  | ({ readonly verdict: "final" } & Proven)
  | ({ readonly verdict: "included" } & Proven)
  | Refused<ProofStep>;

/** @throws {Refusal} */
export const refuseUnless: RefuseUnless<ProofStep> = refuse;
