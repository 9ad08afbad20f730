/** Webhooks of every kind, each with a predicate for the facts that it must receive, independent of the register's code. */
import type { Condition, NewWebhook } from "@uniknode/client";
import type { DevAccount } from "../../../src/dev-chain/keys.ts";
import { present } from "../../../src/platform/present.ts";
import type { ChainTransaction } from "./chronicle.ts";
import type { Fact } from "./facts.ts";

export type Kind = ReturnType<typeof kind>;

type Given = Partial<Omit<NewWebhook, "target" | "events">> & {
  readonly matches?: (fact: Fact) => boolean;
  readonly isRemembered?: boolean;
};

const APPLIED = "transaction.applied";
const REVERSALS = ["block.reverted", "transaction.reverted"];
const VOTES = ["wallet.vote", "wallet.unvote", "delegate.registered", "delegate.resigned"];
const when = (key: string, condition: Condition["condition"], value: unknown) => ({ key, condition, value });
const ALWAYS = [when("id", "ne", "")];
const order = "strict";

/** By default, a webhook matches the facts with the names of its events. */
function kind(name: string, events: readonly string[], given: Given = {}) {
  const { matches = (fact) => events.includes(fact.name), isRemembered = true, ...fields } = given;
  return {
    ...{ name, matches },
    /** True if everything that it matches can be derived from stored blocks. */
    isRemembered,
    /** Registered fields, without the target. */
    body: { events, conditions: ALWAYS, ...fields },
    isStrict: fields.order === "strict",
    confirmations: fields.confirmations ?? 0,
    /** Names of reverts that it subscribes to: it receives them even if the fact was not delivered to it. */
    reversals: REVERSALS.filter((event) => events.includes(event) || events.includes("*")),
  };
}

/** Matches the facts that a transaction was applied, of some transactions. */
const applied =
  (isMatch: (transaction: ChainTransaction) => boolean) =>
  ({ name, transaction }: Fact) =>
    name === APPLIED && isMatch(present(transaction));

export const kindsOf = ({ address: watched }: DevAccount): Kind[] => [
  kind("every block", ["block.applied"]),
  kind("every transaction", [APPLIED]),
  kind("ledger, strict", ["block.applied", APPLIED, ...REVERSALS], { order }),
  kind("three confirmations", [APPLIED], { confirmations: 3 }),
  kind("twelve confirmations, strict", ["block.applied", APPLIED], { confirmations: 12, order }),
  kind("large or red", [APPLIED], {
    conditions: [when("amount", "gte", "500"), when("vendorField", "contains", "red")],
    matches: applied(({ amount, vendorField }) => amount >= 500 || vendorField?.includes("red") === true),
  }),
  kind("small transfers", [APPLIED], {
    conditions: [
      ...[when("amount", "lt", "300"), when("amount", "gt", "0")],
      ...[when("type", "eq", "0"), when("typeGroup", "eq", "1")],
    ],
    match: "all",
    matches: applied(({ type, amount }) => type === "1/0" && amount < 300 && amount > 0),
  }),
  kind("uniks", ["unik.*"], {
    conditions: [when("tokenId", "ne", "")],
    matches: ({ name }) => name.startsWith("unik."),
  }),
  kind("one recipient, strict", [APPLIED], {
    ...{ conditions: [when("recipientId", "eq", watched)], order },
    matches: applied(({ recipient }) => recipient === watched),
  }),
  kind("coloured", [APPLIED], {
    conditions: [when("vendorField", "regexp", "^(red|green) ")],
    matches: applied(({ vendorField }) => /^(red|green) /.test(vendorField ?? "")),
  }),
  kind("reversals only", ["transaction.reverted"], { isRemembered: false }),
  kind("wallets and delegates", ["wallet.*", "delegate.*"], {
    matches: ({ name }) => /^(wallet|delegate)\./.test(name),
  }),
  kind("votes, strict", VOTES, { order }),
  kind("one wallet", ["wallet.saved"], {
    ...{ conditions: [when("address", "eq", watched)], isRemembered: false },
    matches: ({ name, address }) => name === "wallet.saved" && address === watched,
  }),
  kind("everything", ["*"], { matches: () => true }),
];
