/** Trusted keys: how they advance, and when a block is final (proofs.md 4). */
import { quorumOf } from "@uniknode/protocol";
import { type Calendar, type Checkpoint, calendarOf } from "./checkpoint.ts";
import type { ProofHeader } from "./decoding.ts";
import type { Rules } from "./rules.ts";
import { refuseUnless } from "./verdict.ts";

/**
 * Returns the checkpoint that headers justify: they begin with a complete round, whose last header is final.
 *
 * @throws {Refusal}
 */
export function advance(checkpoint: Checkpoint, headers: readonly ProofHeader[], rules: Rules): Checkpoint {
  const calendar = calendarOf(checkpoint.network);
  const [first] = headers;
  const ofRound = headers.filter(({ round }) => round === first?.round);
  const last = ofRound.at(-1);
  refuseUnless(first !== undefined && last !== undefined, "ADVANCE_ROUND", "an advance has no header");
  const { round, roundHeight, maxDelegates } = calendar.roundAt(first.height);
  refuseUnless(
    rules.isAbove(first, checkpoint),
    "ADVANCE_ROUND",
    `round ${round} is not above the checkpoint at height ${checkpoint.height}`,
  );
  refuseUnless(
    rules.isWholeRound(ofRound, roundHeight, maxDelegates),
    "ADVANCE_ROUND",
    `the headers of round ${round} are not complete`,
  );
  const { signers, quorum } = countSigners(
    checkpoint,
    { calendar, rules },
    headers.slice(ofRound.length - 1),
  );
  refuseUnless(
    rules.hasQuorum(signers, quorum),
    "ADVANCE_QUORUM",
    `${signers} of ${quorum} trusted keys signed above round ${round}`,
  );
  const generators = [...new Set(ofRound.map(({ generatorPublicKey }) => generatorPublicKey))].sort();
  const change = { keys: checkpoint.keys, generators, delegates: maxDelegates };
  refuseUnless(
    rules.isSmallChange(change),
    "ADVANCE_CHANGE",
    `more than a third of the generators of round ${round} are new`,
  );
  refuseUnless(
    rules.isLargeEnough(change),
    "ADVANCE_CHANGE",
    `less than two thirds of the delegates of round ${round} signed`,
  );
  const { height, id, timestamp } = last;
  return { network: checkpoint.network, height, id, timestamp, keys: generators };
}

export type Signers = { readonly signers: number; readonly quorum: number };

/** Counts the trusted keys that signed the headers of a block and of those above it. */
export function countSigners(
  { height, keys }: Checkpoint,
  { calendar, rules }: { calendar: Calendar; rules: Rules },
  headers: readonly ProofHeader[],
): Signers {
  return {
    signers: rules.signersOf(headers, keys),
    quorum: quorumOf(calendar.roundAt(height).maxDelegates),
  };
}

/** Returns true if the headers lead up to the block of the checkpoint. */
export const reaches = (headers: readonly ProofHeader[], { height, id }: Checkpoint): boolean =>
  headers.some((header) => header.height === height && header.id === id);
