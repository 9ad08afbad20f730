/** Proofs of transactions and blocks (proofs.md 3). `verifyProof` of `@uniknode/client/proofs` verifies them. */

/** Bytes are hexadecimal text in lower case. */
export type Proof = {
  readonly nethash: string;
  /** The signed bytes of the transaction; absent in the proof of a block. */
  readonly transaction?: string;
  /** Ids of all transactions of the block, in order. */
  readonly ids: readonly string[];
  /** Signed bytes of headers: that of the block, and those above it. */
  readonly headers: readonly string[];
  /** Headers by which the trusted keys advance, ascending; each begins with a complete round. */
  readonly advances: readonly (readonly string[])[];
  /** Delegates of the rounds of all headers, ascending by round, each by rank; null for those that signed none of the headers. */
  readonly rounds: readonly ProofRound[];
};

export type ProofRound = { readonly round: number; readonly delegates: readonly (string | null)[] };

export type ProofQuery = {
  /** Height of the checkpoint of the client: the proof then advances from there. */
  readonly checkpoint?: number | undefined;
};
