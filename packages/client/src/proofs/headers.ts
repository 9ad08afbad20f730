/** Headers of a proof: they are linked, signed by the delegates of their slots, and advance the trusted keys (proofs.md 4). */
import { forgingOrder, quorumOf } from "@uniknode/protocol";
import type { ProofRound } from "../api/resources/proofs.ts";
import { type Calendar, type Checkpoint, calendarOf } from "./checkpoint.ts";
import { decodeHeader, type ProofHeader } from "./decoding.ts";
import type { Rules } from "./rules.ts";
import { refuseUnless } from "./verdict.ts";

/**
 * Decodes consecutive headers, and checks each with the one below it.
 *
 * @throws {Refusal}
 */
export function readHeaders(
  texts: readonly string[],
  { rules, calendar, nowSlot }: { rules: Rules; calendar: Calendar; nowSlot: number },
): ProofHeader[] {
  const headers: ProofHeader[] = [];
  for (const text of texts) {
    const header = decodeHeader(text, calendar);
    const at = `at height ${header.height}`;
    const parent = headers.at(-1);
    refuseUnless(!parent || rules.isLinked(parent, header), "LINK", `the header ${at} has another parent`);
    refuseUnless(
      !parent || rules.isLater(parent, header),
      "TIME",
      `the slot ${at} is not later than that below`,
    );
    refuseUnless(rules.isPast(header, nowSlot), "TIME", `the slot ${at} is in the future: check the clock`);
    headers.push(header);
  }
  return headers;
}

/** @throws {Refusal} */
export function checkSignatures(headers: readonly ProofHeader[], rules: Rules): void {
  for (const header of headers) {
    refuseUnless(rules.isSigned(header), "SIGNATURE", `the signature at height ${header.height} is invalid`);
  }
}

/**
 * Checks that the generators are the delegates of their slots, and that each round names only delegates that signed.
 *
 * @throws {Refusal}
 */
export function checkDelegates(
  headers: readonly ProofHeader[],
  rounds: readonly ProofRound[],
  { rules, calendar }: { rules: Rules; calendar: Calendar },
): void {
  const signed = Map.groupBy(headers, ({ round }) => round);
  refuseUnless(rounds.length === signed.size, "DELEGATE", "the rounds are not those of the headers");
  for (const { round, delegates } of rounds) {
    const ofRound = signed.get(round) ?? [];
    const [first] = ofRound;
    const count = first && calendar.roundAt(first.height).maxDelegates;
    refuseUnless(count === delegates.length, "DELEGATE", `round ${round} has another number of delegates`);
    const generators = new Set(ofRound.map(({ generatorPublicKey }) => generatorPublicKey));
    refuseUnless(
      rules.isInOrder(ofRound, orderOf(round, delegates)),
      "DELEGATE",
      `a generator of round ${round} is not the delegate of its slot`,
    );
    refuseUnless(
      generators.size === delegates.filter((key) => key !== null).length,
      "DELEGATE",
      `round ${round} names a delegate that signed none of the headers`,
    );
  }
}

/** An empty text takes the place of a delegate that signed none of the headers. */
const orderOf = (round: number, delegates: ProofRound["delegates"]): string[] =>
  forgingOrder(
    round,
    delegates.map((key) => key ?? ""),
  );

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

type Signers = { readonly signers: number; readonly quorum: number };

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
