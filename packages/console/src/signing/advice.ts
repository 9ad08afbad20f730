/** Explains refused passphrases and fees; loaded with the list of words only then. */
import { wordlist } from "@scure/bip39/wordlists/english.js";
import type { RawTransaction } from "@uniknode/client";
import { passphraseMistake } from "@uniknode/protocol";
import { amountText } from "../components/format.ts";
import type { Node } from "../data/node.ts";
import type { OrderField } from "./order.ts";
import type { Posted } from "./post.ts";
import type { Signer } from "./signer.ts";

export const IF_RIGHT = "If the passphrase is right, enter the address of your wallet as the sender.";

/** Returns a sentence, without a word of the passphrase; empty if nothing looks mistyped. */
export function mistakeIn(passphrase: string): string {
  const mistake = passphraseMistake(passphrase, wordlist);
  return mistake ? `${mistake.slice(0, 1).toUpperCase()}${mistake.slice(1)}.` : "";
}

type Faults = Readonly<Partial<Record<OrderField, string>>>;

/** Adds to the error of a passphrase what looks mistyped. */
export function withMistakes(
  faults: Faults,
  typed: Readonly<Record<"passphrase" | "second", string>>,
): Faults {
  const field = faults.passphrase === undefined ? "second" : "passphrase";
  return faults[field] === undefined
    ? faults
    : { [field]: `${mistakeIn(typed[field])} ${faults[field]}`.trim() };
}

/** Adds the required fee, which a node does not name, to a refusal. */
export async function withFee(
  posted: Posted,
  signed: RawTransaction,
  signer: Signer | undefined,
  { configuration: { value: rules }, head: { value: head } }: Node,
): Promise<Posted> {
  if (!signer || !rules || !head) return posted;
  const { dynamicFees } = rules.transactionPool;
  const fee = amountText(await signer.requiredFee(signed, head.height, dynamicFees));
  const message = `It must be ${dynamicFees.enabled ? "at least " : ""}${fee}.`;
  return { ...posted, reasons: [...posted.reasons, { type: "", message }] };
}
