/** Outcome of a transaction that was signed here, with its current state. */
import type { RawTransaction } from "@uniknode/client";
import { Json } from "../components/code-block.tsx";
import { TransactionId } from "../components/identifier.tsx";
import { Section } from "../components/page.tsx";
import { Confirmations } from "../components/transactions/confirmations.tsx";
import { useTransaction } from "../components/transactions/use-transaction.ts";
import { type Posted, reasonText } from "./post.ts";

export type OutcomeProps = {
  readonly signed: RawTransaction;
  /** Absent if the transaction was only signed. */
  readonly posted?: Posted | undefined;
  /** Sends the same transaction again. */
  readonly onAgain: () => void;
};

export const Outcome = ({ signed, posted, onAgain }: OutcomeProps) => (
  <Section title={posted ? OUTCOMES[posted.became] : "Signed, not sent"}>
    <div class="card outcome" role={posted?.became === "refused" ? "alert" : "status"}>
      <p>
        <TransactionId id={signed.id} /> {posted?.became === "accepted" && <Whereabouts id={signed.id} />}
      </p>
      {posted && posted.became !== "accepted" && <p class="bad-text">{reasonText(posted.reasons)}</p>}
      {posted?.became === "uncertain" && (
        <p>
          The node may have received it. Sending the same transaction again is safe, because it is executed
          only once. A new transaction could pay twice.
        </p>
      )}
      {posted?.became !== "accepted" && posted?.became !== "refused" && (
        <p>
          <button type="button" onClick={onAgain}>
            {posted ? "Send it again" : "Send it"}
          </button>
        </p>
      )}
      <details>
        <summary>Signed JSON</summary>
        <Json value={signed} what="signed transaction" />
      </details>
    </div>
  </Section>
);

/** Titles, also announced; an unknown outcome must not lead to a second transaction. */
export const OUTCOMES = {
  accepted: "Sent",
  refused: "The node refused it",
  uncertain: "The node may have it",
} as const;

/** State: pending, or number of confirmations. */
export function Whereabouts({ id }: { id: string }) {
  const { transaction, wasConfirmed } = useTransaction(id);
  return transaction ? <Confirmations transaction={transaction} wasConfirmed={wasConfirmed} /> : null;
}
