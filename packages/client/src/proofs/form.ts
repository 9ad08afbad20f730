/** The form of a proof (proofs.md 3), and its bounds: nothing larger is hashed or verified. */
import type { Proof } from "../api/resources/proofs.ts";
import { MAX_DELEGATES } from "./checkpoint.ts";
import { isHex, isId, isIntegerIn, isPublicKey, isRecord } from "./values.ts";
import { refuseUnless } from "./verdict.ts";

/** Maximum numbers of a proof. */
export const BOUNDS = {
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
export function readProof(value: unknown): Proof {
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
