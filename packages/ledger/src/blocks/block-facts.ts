/** Facts about transactions and wallets (events.md 3.1, webhooks.md 5). */
import type { Transaction } from "@uniknode/protocol";
import type { Fact } from "../facts.ts";
import { nftOf } from "../rules/shared/economy.ts";
import type { Change, Wallet } from "../state/tables.ts";

type UnikFactName = Extract<Fact, { tokenId: string }>["name"];

/** Names of facts by group and type. */
const DELEGATE_FACTS: Readonly<Record<string, "delegate.registered" | "delegate.resigned">> = {
  "1/2": "delegate.registered",
  "1/7": "delegate.resigned",
  "2001/1": "delegate.registered",
  "2001/2": "delegate.resigned",
};

const UNIK_FACTS: Readonly<Record<string, UnikFactName>> = {
  "2000/0": "unik.minted",
  "2000/1": "unik.updated",
  "2000/2": "unik.transferred",
  "2001/0": "unik.disclosed",
  "2001/3": "unik.minted",
  "2001/4": "unik.updated",
  "2001/6": "unik.transferred",
};

/**
 * Returns the fact of the applied transaction, then the facts of its type.
 *
 * @param ownerOf address of a token's holder right after the transaction, if the token exists
 */
export function transactionFacts(
  transaction: Transaction,
  sequence: number,
  ownerOf: (tokenId: string) => string | undefined,
): Fact[] {
  const facts: Fact[] = [{ name: "transaction.applied", transaction, sequence }];
  const type = `${transaction.typeGroup}/${transaction.type}`;
  const delegateFact = DELEGATE_FACTS[type];
  if (delegateFact) facts.push({ name: delegateFact, transaction, sequence });
  const delegate = transaction.asset?.votes?.[0];
  if (delegate !== undefined) {
    const name = delegate.startsWith("+") ? "wallet.vote" : "wallet.unvote";
    facts.push({ name, delegate, transaction, sequence });
  }
  const unikFact = UNIK_FACTS[type];
  if (unikFact) {
    const tokenId = tokenIdOf(transaction);
    const ownerId = ownerOf(tokenId);
    // A disclosure may name a token that does not exist (trap A8).
    if (ownerId !== undefined) facts.push({ name: unikFact, tokenId, ownerId, transaction, sequence });
  }
  return facts;
}

const tokenIdOf = (transaction: Transaction): string =>
  transaction.asset?.["disclose-demand"]?.payload.sub ?? nftOf(transaction).token.tokenId;

/** Facts of the wallets that a block changed, by ascending address. A wallet of an unknown address was created cold, also if it spends at once. */
export function walletFacts(changes: readonly Change[]): Fact[] {
  return changes
    .filter((change) => change.table === "wallets")
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .flatMap(({ before, after }): Fact[] => {
      const wallet = after as Wallet;
      const saved: Fact = { name: "wallet.saved", wallet };
      return before === undefined ? [{ name: "wallet.created.cold", wallet }, saved] : [saved];
    });
}
