/** Describes a transaction in a sentence. */
import type { ComponentChildren } from "preact";
import { Amount } from "../amount.tsx";
import { Address } from "../identifier.tsx";
import { assetDetails, type Part, type TransactionLike } from "./asset.ts";
import { kindText } from "./kinds.ts";
import { PartView } from "./parts.tsx";

export type SentenceProps = {
  /** Transaction with `amount` in the smallest unit. */
  readonly transaction: TransactionLike & { readonly amount: string };
};

export function Sentence({ transaction }: SentenceProps) {
  const { sender, recipient, amount } = transaction;
  const details = assetDetails(transaction);
  const part = (name: string): ComponentChildren => {
    const parts: readonly Part[] = details.find(([known]) => known.startsWith(name))?.[1] ?? [];
    return parts.map((item, index) => [index > 0 && ", ", <PartView key={index} part={item} />]);
  };
  const quantity = <Amount value={amount} />;
  const to = <Address address={recipient} />;
  const count = details.length;
  const registersDelegate = () => ["registers as the delegate ", part("Delegate")];
  const votes = () =>
    details.map(([name, parts], index) => [
      index > 0 && " and ",
      name.charAt(0).toLowerCase() + name.slice(1),
      " ",
      parts.map((item) => <PartView key={name} part={item} />),
    ]);
  const sentences: Readonly<Record<string, () => ComponentChildren>> = {
    "1/0": () => ["sends ", quantity, " to ", to],
    "1/1": () => "registers a second signature",
    "1/2": registersDelegate,
    "1/3": votes,
    "1/4": () => "creates a multi-signature wallet",
    "1/5": () => ["registers the file ", part("IPFS")],
    "1/6": () => `pays to ${count} recipients`,
    "1/7": () => "resigns as a delegate",
    "1/8": () => ["locks ", quantity, " for ", to, ", who claims it with a secret"],
    "1/9": () => ["claims the lock ", part("Lock")],
    "1/10": () => ["refunds the expired lock ", part("Lock")],
    "2/0": () => "registers a business",
    "2/1": () => "resigns its business",
    "2/2": () => "changes its business",
    "2/3": () => "registers a bridgechain",
    "2/4": () => "resigns a bridgechain",
    "2/5": () => "changes a bridgechain",
    "2/6": () => "registers, changes or resigns an entity",
    "2000/0": () => ["mints the unik ", part("Unik")],
    "2000/1": () => ["changes properties of the unik ", part("Unik")],
    "2000/2": () => ["transfers the unik ", part("Unik"), " to ", to],
    "2001/0": () => ["discloses ", part("Names"), " as names of the unik ", part("Unik")],
    "2001/1": registersDelegate,
    "2001/2": () => "resigns as a delegate",
    "2001/3": () => ["mints the unik ", part("Unik"), " with a certificate"],
    "2001/4": () => ["changes properties of the unik ", part("Unik"), " with a certificate"],
    "2001/5": votes,
    "2001/6": () => ["transfers the unik ", part("Unik"), " to ", to, " with a certificate"],
  };
  const text = sentences[kindText(transaction)];
  if (!text) return null;
  return (
    <p class="sentence">
      <Address address={sender} /> {text()}.
    </p>
  );
}
