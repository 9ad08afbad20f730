/** Shows values of a transaction with links. */
import { Amount } from "../amount.tsx";
import { DelegateName } from "../delegate-name.tsx";
import { Address, hrefOf, Identifier, PublicKey, TransactionId, UnikId } from "../identifier.tsx";
import { assetDetails, type Part, type TransactionLike } from "./asset.ts";

export function PartView({ part, isWhole = false }: { part: Part; isWhole?: boolean }) {
  switch (part.is) {
    case "address":
      return <Address address={part.id} isWhole={isWhole} />;
    case "publicKey":
      return <PublicKey publicKey={part.id} isWhole={isWhole} />;
    case "transaction":
      return <TransactionId id={part.id} isWhole={isWhole} />;
    case "unik":
      return <UnikId id={part.id} isWhole={isWhole} />;
    case "delegate":
      return isWhole ? (
        <Identifier id={part.id} what="delegate" href={hrefOf.delegate(part.id)} isWhole />
      ) : (
        <DelegateName id={part.id} />
      );
    case "amount":
      return <Amount value={part.amount} />;
    default:
      return <span>{part.text}</span>;
  }
}

/** Returns labels and values of the asset for a list of facts. */
export const assetFacts = (transaction: TransactionLike) =>
  assetDetails(transaction).map(
    ([name, parts]) =>
      [
        name,
        parts.map((part, index) => (
          <div key={index}>
            <PartView part={part} isWhole />
          </div>
        )),
      ] as const,
  );
