/** Headers of a proof: linked, and signed by the delegates of their slots (proofs.md 4). */
import { forgingOrder } from "@uniknode/protocol";
import type { ProofRound } from "../api/resources/proofs.ts";
import type { Calendar } from "./checkpoint.ts";
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
