/** Verifies proofs of transactions and blocks, with a checkpoint as the only trusted data (docs/spec/proofs.md). */
import { bytesToHex, hexToBytes, sha256 } from "@uniknode/protocol";
import type { Proof } from "../api/resources/proofs.ts";
import { type Calendar, type Checkpoint, calendarOf, MAX_DELEGATES } from "./checkpoint.ts";
import type { ProofHeader } from "./decoding.ts";
import { advance, checkDelegates, checkSignatures, countSigners, reaches, readHeaders } from "./headers.ts";
import { refusedVerdict } from "./refusal.ts";
import { RULES, type Rules } from "./rules.ts";
import { isHex, isId, isIntegerIn, isPublicKey, isRecord } from "./values.ts";
import {
  type ProofVerdict,
  type Proven,
  type ProvenBlock,
  type ProvenTransaction,
  refuseUnless,
} from "./verdict.ts";

export type ProofOptions = {
  /** Id of the requested transaction, or of the requested block: a proof of another one is refused. */
  readonly id?: string;
  /** Unix time in milliseconds. Default: `Date.now()`. */
  readonly nowMs?: number;
};

export type VerifyProof = (proof: unknown, checkpoint: Checkpoint, options?: ProofOptions) => ProofVerdict;

/** @param rules `RULES`, except in tests of their necessity */
export const createVerifyProof =
  (rules: Rules): VerifyProof =>
  (proof, checkpoint, { id, nowMs = Date.now() } = {}) => {
    try {
      return verify(readProof(proof), checkpoint, { rules, id, nowMs });
    } catch (error) {
      return refusedVerdict(error);
    }
  };

/**
 * Verifies the `data` of a response to a request for a proof. It never throws: every fault of the proof is a verdict.
 *
 * @param checkpoint from `parseCheckpoint`, or of an earlier verdict
 */
export const verifyProof: VerifyProof = createVerifyProof(RULES);

type Context = { readonly rules: Rules; readonly id: string | undefined; readonly nowMs: number };

/** Signatures, which cost most of the time, are verified after the checks that need none. */
function verify(proof: Proof, checkpoint: Checkpoint, { rules, id, nowMs }: Context): ProofVerdict {
  const calendar = calendarOf(checkpoint.network);
  const nowSlot = calendar.slotAt(calendar.timeAt(nowMs));
  refuseUnless(
    rules.isFresh(checkpoint, calendar, nowMs) && calendar.slotAt(checkpoint.timestamp) <= nowSlot,
    "CHECKPOINT_AGE",
    "the checkpoint is older than 30 days, or in the future",
  );
  refuseUnless(proof.nethash === checkpoint.network.nethash, "NETWORK", "the proof is of another network");
  const advances = proof.advances.map((texts) => readHeaders(texts, { rules, calendar, nowSlot }));
  const headers = readHeaders(proof.headers, { rules, calendar, nowSlot });
  const all = [...advances.flat(), ...headers];
  checkDelegates(all, proof.rounds, { rules, calendar });
  const contents = readContents(proof, headers, { checkpoint, calendar, rules });
  const requested = contents.transaction ?? contents.block;
  refuseUnless(id === undefined || requested.id === id, "ID", `the proof is of ${requested.id}`);
  checkSignatures(all, rules);
  const checkpoints = [checkpoint, ...advanced(checkpoint, advances, rules)];
  checkConsistency(all, checkpoints, rules);
  return judge(contents, checkpoints, { headers, calendar, rules });
}

/** Returns the checkpoints to which the trusted keys advance, one after the other. */
function advanced(
  checkpoint: Checkpoint,
  advances: readonly (readonly ProofHeader[])[],
  rules: Rules,
): Checkpoint[] {
  let last = checkpoint;
  return advances.map((headers) => {
    last = advance(last, headers, rules);
    return last;
  });
}

/** @throws {Refusal} */
function checkConsistency(
  headers: readonly ProofHeader[],
  checkpoints: readonly Checkpoint[],
  rules: Rules,
): void {
  for (const checkpoint of checkpoints) {
    refuseUnless(
      headers.every((header) => rules.isConsistent(header, checkpoint)),
      "CONFLICT",
      `the block at height ${checkpoint.height} is not that of the checkpoint`,
    );
  }
}

type Contents = { readonly block: ProvenBlock; readonly transaction?: ProvenTransaction };

/** @throws {Refusal} */
function readContents(
  { ids, transaction: bytes }: Proof,
  [header]: readonly ProofHeader[],
  { checkpoint, calendar, rules }: { checkpoint: Checkpoint; calendar: Calendar; rules: Rules },
): Contents {
  refuseUnless(header !== undefined, "FORM", "the proof has no header");
  refuseUnless(rules.isPayload(ids, header.payloadHash), "PAYLOAD", "the ids are not those of the block");
  const { id, height, timestamp, generatorPublicKey } = header;
  const unixMs = calendar.unixMsOf(timestamp);
  const block = { id, height, timestamp, unixMs, generatorPublicKey, ids };
  if (bytes === undefined) return { block };
  const content = hexToBytes(bytes);
  const transaction = { id: bytesToHex(sha256(content)), bytes };
  refuseUnless(
    rules.isContained(transaction.id, ids),
    "TRANSACTION",
    "the block does not contain the transaction",
  );
  refuseUnless(
    rules.isTransactionOf(checkpoint.network, content),
    "TRANSACTION",
    "the bytes are not a transaction of version 2 of the network",
  );
  return { block, transaction };
}

/** The block is final if the keys of one of the checkpoints are sufficient, or if headers lead from it to one of them. */
function judge(
  contents: Contents,
  checkpoints: readonly Checkpoint[],
  { headers, calendar, rules }: { headers: readonly ProofHeader[]; calendar: Calendar; rules: Rules },
): ProofVerdict {
  const last = checkpoints.at(-1);
  const counts = checkpoints.map((checkpoint) => countSigners(checkpoint, { calendar, rules }, headers));
  const best = counts.find(({ signers, quorum }) => rules.hasQuorum(signers, quorum)) ?? counts.at(-1);
  if (!best || !last) throw new TypeError("there is no checkpoint");
  const proven: Proven = { ...contents, ...best, checkpoint: last };
  const isFinal =
    rules.hasQuorum(best.signers, best.quorum) ||
    checkpoints.some((checkpoint) => reaches(headers, checkpoint));
  return { verdict: isFinal ? "final" : "included", ...proven };
}

/** Maximum numbers of a proof. */
const BOUNDS = {
  headers: 1_536,
  /** Bytes before the signature, and those of the longest one. */
  headerBytes: 141 + 72,
  advances: 16,
  ids: 10_000,
  rounds: 256,
  transactionBytes: 2 ** 21,
} as const;

const MAX_ROUND = 0xffff_ffff;

/** @throws {Refusal} */
function readProof(value: unknown): Proof {
  const refuse = (isMet: boolean, member: string) =>
    refuseUnless(isMet, "FORM", `"${member}" has an invalid form`);
  refuseUnless(isRecord(value), "FORM", "the proof is not an object");
  const { nethash, transaction, ids, headers, advances, rounds } = value;
  refuse(isId(nethash), "nethash");
  refuse(transaction === undefined || isHex(transaction, BOUNDS.transactionBytes), "transaction");
  refuse(isListOf(ids, 0, BOUNDS.ids, isId), "ids");
  refuse(isHeaders(headers), "headers");
  refuse(isListOf(advances, 0, BOUNDS.advances, isHeaders), "advances");
  const proof = value as Proof;
  const count = proof.advances.reduce((sum, { length }) => sum + length, proof.headers.length);
  refuseUnless(count <= BOUNDS.headers, "FORM", `there are more than ${BOUNDS.headers} headers`);
  refuse(isListOf(rounds, 1, BOUNDS.rounds, isRound), "rounds");
  const isAscending = proof.rounds.every(({ round }, index) => round > (proof.rounds[index - 1]?.round ?? 0));
  refuseUnless(isAscending, "FORM", "the rounds are not in ascending order");
  return proof;
}

const isListOf = (
  value: unknown,
  minimum: number,
  maximum: number,
  isItem: (item: unknown) => boolean,
): value is unknown[] =>
  Array.isArray(value) && value.length >= minimum && value.length <= maximum && value.every(isItem);

const isHeaders = (value: unknown): boolean =>
  isListOf(value, 1, BOUNDS.headers, (header) => isHex(header, BOUNDS.headerBytes));

const isRound = (value: unknown): boolean =>
  isRecord(value) &&
  isIntegerIn(value.round, 1, MAX_ROUND) &&
  isListOf(value.delegates, 1, MAX_DELEGATES, (key) => key === null || isPublicKey(key));
