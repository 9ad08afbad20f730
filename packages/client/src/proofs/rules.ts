/**
 * The rules of the verifier (proofs.md 4), one function each. The simulation of an attacker replaces one after the other
 * with a function that accepts everything, and must then succeed: no rule is superfluous.
 */
import {
  bytesToHex,
  delegateOfSlot,
  hexToBytes,
  quorumOf,
  sha256,
  verifyHeaderJob,
} from "@uniknode/protocol";
import { type Calendar, type Checkpoint, TRUSTING_PERIOD_MS } from "./checkpoint.ts";
import type { ProofHeader } from "./decoding.ts";

/** A change of the trusted keys: generators of a complete round, and the keys that are trusted before. */
type KeyChange = {
  readonly keys: readonly string[];
  readonly generators: readonly string[];
  /** Number of delegates of the round. */
  readonly delegates: number;
};

export type Rules = {
  isFresh(checkpoint: Checkpoint, calendar: Calendar, nowMs: number): boolean;
  isLinked(parent: ProofHeader, header: ProofHeader): boolean;
  isLater(parent: ProofHeader, header: ProofHeader): boolean;
  isPast(header: ProofHeader, nowSlot: number): boolean;
  isSigned(header: ProofHeader): boolean;
  /** @param order delegates of the round of the headers in forging order */
  isInOrder(headers: readonly ProofHeader[], order: readonly string[]): boolean;
  isConsistent(header: ProofHeader, checkpoint: Checkpoint): boolean;
  /** Returns the distinct trusted keys that signed the headers. */
  signersOf(headers: readonly ProofHeader[], keys: readonly string[]): number;
  hasQuorum(signers: number, quorum: number): boolean;
  isAbove(header: ProofHeader, checkpoint: Checkpoint): boolean;
  /** @param headers of one round, which has this number of delegates and begins at this height */
  isWholeRound(headers: readonly ProofHeader[], roundHeight: number, delegates: number): boolean;
  isSmallChange(change: KeyChange): boolean;
  isLargeEnough(change: KeyChange): boolean;
  isPayload(ids: readonly string[], payloadHash: string): boolean;
  isTransactionOf(network: Checkpoint["network"], bytes: Uint8Array): boolean;
  isContained(id: string, ids: readonly string[]): boolean;
};

/** A third of the delegates, rounded down. */
const thirdOf = (delegates: number): number => delegates - quorumOf(delegates);

/** First bytes of every transaction of version 2, before the version of addresses. */
const TRANSACTION_START = [0xff, 2];

export const RULES: Rules = {
  isFresh: ({ timestamp }, calendar, nowMs) => nowMs - calendar.unixMsOf(timestamp) <= TRUSTING_PERIOD_MS,
  isLinked: (parent, header) => header.previousBlock === parent.id && header.height === parent.height + 1,
  isLater: (parent, header) => header.slot > parent.slot,
  isPast: (header, nowSlot) => header.slot <= nowSlot,
  isSigned: ({ job }) => verifyHeaderJob(job) === "valid",
  isInOrder: (headers, order) =>
    headers.every(({ slot, generatorPublicKey }) => delegateOfSlot(order, slot) === generatorPublicKey),
  isConsistent: ({ height, id }, checkpoint) => height !== checkpoint.height || id === checkpoint.id,
  signersOf: (headers, keys) => {
    const signed = new Set(headers.map(({ generatorPublicKey }) => generatorPublicKey));
    return keys.filter((key) => signed.has(key)).length;
  },
  hasQuorum: (signers, quorum) => signers >= quorum,
  isAbove: ({ height }, checkpoint) => height > checkpoint.height,
  isWholeRound: (headers, roundHeight, delegates) =>
    headers.length === delegates && headers[0]?.height === roundHeight,
  isSmallChange: ({ keys, generators, delegates }) =>
    generators.filter((key) => !keys.includes(key)).length <= thirdOf(delegates),
  isLargeEnough: ({ generators, delegates }) => generators.length >= quorumOf(delegates),
  isPayload: (ids, payloadHash) => bytesToHex(sha256(hexToBytes(ids.join("")))) === payloadHash,
  isTransactionOf: ({ addressVersion }, bytes) =>
    [...TRANSACTION_START, addressVersion].every((byte, index) => bytes[index] === byte),
  isContained: (id, ids) => ids.includes(id),
};
