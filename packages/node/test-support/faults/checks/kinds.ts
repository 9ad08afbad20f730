/**
 * Webhooks of every kind, each with a predicate for the facts that it must receive, independent of the
 * register's code.
 */
import type { DevAccount } from "../../../src/dev-chain/keys.ts";
import { present } from "../../../src/platform/present.ts";
import type { ChainTransaction } from "./chronicle.ts";
import type { Fact } from "./facts.ts";

export type Kind = {
  readonly name: string;
  /** Registered fields, without the target. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly matches: (fact: Fact) => boolean;
  readonly isStrict: boolean;
  readonly confirmations: number;
  /** If true, everything that it matches can be derived from stored blocks. */
  readonly isRemembered: boolean;
  /** Names of reverts that it subscribes to: it receives them even if the fact was not delivered to it. */
  readonly reversals: readonly string[];
};

/** Returns the registered fields with a list of all events, because an update could not remove a single one. */
export const bodyOf = ({
  body: { event, events = [], ...rest },
}: Kind): { readonly events: readonly string[] } => ({
  ...rest,
  events: [...(event === undefined ? [] : [event as string]), ...(events as string[])],
});

type Given = Pick<Kind, "body" | "matches"> & Partial<Kind>;

const kind = (name: string, { body, ...given }: Given): Kind => ({
  name,
  body: { conditions: ALWAYS, ...body },
  isStrict: body.order === "strict",
  confirmations: Number(body.confirmations ?? 0),
  isRemembered: true,
  reversals: [],
  ...given,
});

const ALWAYS = [{ key: "id", condition: "ne", value: "" }];
const when = (key: string, condition: string, value: unknown) => ({ key, condition, value });
const named =
  (...names: string[]) =>
  ({ name }: Fact) =>
    names.includes(name);
/** Matches the facts that a transaction was applied, of some transactions. */
const applied =
  (isMatch: (transaction: ChainTransaction) => boolean = () => true) =>
  ({ name, transaction }: Fact) =>
    name === "transaction.applied" && isMatch(present(transaction));

const BLOCKS_AND_TRANSACTIONS = ["block.applied", "transaction.applied"];
const REVERSALS = ["block.reverted", "transaction.reverted"];
const VOTES = ["wallet.vote", "wallet.unvote", "delegate.registered", "delegate.resigned"];
const order = "strict";

/** `watched` receives some of the transfers. */
export const kindsOf = ({ address: watched }: DevAccount): Kind[] => [
  kind("every block", { body: { event: "block.applied" }, matches: named("block.applied") }),
  kind("every transaction", { body: { event: "transaction.applied" }, matches: applied() }),
  kind("ledger, strict", {
    body: { events: [...BLOCKS_AND_TRANSACTIONS, ...REVERSALS], order },
    matches: named(...BLOCKS_AND_TRANSACTIONS),
    reversals: REVERSALS,
  }),
  kind("three confirmations", {
    body: { event: "transaction.applied", confirmations: 3 },
    matches: applied(),
  }),
  kind("twelve confirmations, strict", {
    body: { events: BLOCKS_AND_TRANSACTIONS, confirmations: 12, order },
    matches: named(...BLOCKS_AND_TRANSACTIONS),
  }),
  kind("large or red", {
    body: {
      event: "transaction.applied",
      conditions: [when("amount", "gte", "500"), when("vendorField", "contains", "red")],
    },
    matches: applied(({ amount, vendorField }) => amount >= 500 || vendorField?.includes("red") === true),
  }),
  kind("small transfers", {
    body: {
      event: "transaction.applied",
      conditions: [
        ...[when("amount", "lt", "300"), when("amount", "gt", "0")],
        ...[when("type", "eq", "0"), when("typeGroup", "eq", "1")],
      ],
      match: "all",
    },
    matches: applied(({ type, amount }) => type === "1/0" && amount < 300 && amount > 0),
  }),
  kind("uniks", {
    body: { events: ["unik.*"], conditions: [when("tokenId", "ne", "")] },
    matches: ({ name }) => name.startsWith("unik."),
  }),
  kind("one recipient, strict", {
    body: { event: "transaction.applied", conditions: [when("recipientId", "eq", watched)], order },
    matches: applied(({ recipient }) => recipient === watched),
  }),
  kind("coloured", {
    body: { events: ["transaction.applied"], conditions: [when("vendorField", "regexp", "^(red|green) ")] },
    matches: applied(({ vendorField }) => /^(red|green) /.test(vendorField ?? "")),
  }),
  kind("reversals only", {
    body: { event: "transaction.reverted" },
    matches: () => false,
    isRemembered: false,
    reversals: ["transaction.reverted"],
  }),
  kind("wallets and delegates", {
    body: { events: ["wallet.*", "delegate.*"] },
    matches: ({ name }) => /^(wallet|delegate)\./.test(name),
  }),
  kind("votes, strict", { body: { events: VOTES, order }, matches: named(...VOTES) }),
  kind("one wallet", {
    body: { event: "wallet.saved", conditions: [when("address", "eq", watched)] },
    matches: ({ name, address }) => name === "wallet.saved" && address === watched,
    isRemembered: false,
  }),
  kind("everything", { body: { events: ["*"] }, matches: () => true, reversals: REVERSALS }),
];
