/**
 * Webhooks of every kind, each with a predicate for the facts that it must receive, independent of the
 * register's code.
 */
import type { DevAccount } from "../../../src/dev-chain/keys.ts";
import { present } from "../../../src/platform/present.ts";
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

type Given = Pick<Kind, "name" | "body" | "matches"> & Partial<Kind>;

const kind = (given: Given): Kind => ({
  isStrict: given.body.order === "strict",
  confirmations: Number(given.body.confirmations ?? 0),
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
const isTransfer = named("transaction.applied");

/** `watched` receives some of the transfers. */
export const kindsOf = (watched: DevAccount): Kind[] => [
  kind({
    name: "every block",
    body: { event: "block.applied", conditions: ALWAYS },
    matches: named("block.applied"),
  }),
  kind({
    name: "every transaction",
    body: { event: "transaction.applied", conditions: ALWAYS },
    matches: isTransfer,
  }),
  kind({
    name: "ledger, strict",
    body: {
      events: ["block.applied", "block.reverted", "transaction.applied", "transaction.reverted"],
      conditions: ALWAYS,
      order: "strict",
    },
    matches: named("block.applied", "transaction.applied"),
    reversals: ["block.reverted", "transaction.reverted"],
  }),
  kind({
    name: "three confirmations",
    body: { event: "transaction.applied", conditions: ALWAYS, confirmations: 3 },
    matches: isTransfer,
  }),
  kind({
    name: "twelve confirmations, strict",
    body: {
      events: ["block.applied", "transaction.applied"],
      conditions: ALWAYS,
      confirmations: 12,
      order: "strict",
    },
    matches: named("block.applied", "transaction.applied"),
  }),
  kind({
    name: "large or red",
    body: {
      event: "transaction.applied",
      conditions: [when("amount", "gte", "500"), when("vendorField", "contains", "red")],
    },
    matches: (fact) =>
      isTransfer(fact) &&
      (present(fact.transaction).amount >= 500 ||
        present(fact.transaction).vendorField?.includes("red") === true),
  }),
  kind({
    name: "small transfers",
    body: {
      event: "transaction.applied",
      conditions: [
        when("amount", "lt", "300"),
        when("amount", "gt", "0"),
        when("type", "eq", "0"),
        when("typeGroup", "eq", "1"),
      ],
      match: "all",
    },
    matches: (fact) =>
      isTransfer(fact) &&
      present(fact.transaction).type === "1/0" &&
      present(fact.transaction).amount < 300 &&
      present(fact.transaction).amount > 0,
  }),
  kind({
    name: "uniks",
    body: { events: ["unik.*"], conditions: [when("tokenId", "ne", "")] },
    matches: ({ name }) => name.startsWith("unik."),
  }),
  kind({
    name: "one recipient, strict",
    body: {
      event: "transaction.applied",
      conditions: [when("recipientId", "eq", watched.address)],
      order: "strict",
    },
    matches: (fact) => isTransfer(fact) && present(fact.transaction).recipient === watched.address,
  }),
  kind({
    name: "coloured",
    body: { events: ["transaction.applied"], conditions: [when("vendorField", "regexp", "^(red|green) ")] },
    matches: (fact) => isTransfer(fact) && /^(red|green) /.test(present(fact.transaction).vendorField ?? ""),
  }),
  kind({
    name: "reversals only",
    body: { event: "transaction.reverted", conditions: ALWAYS },
    matches: () => false,
    isRemembered: false,
    reversals: ["transaction.reverted"],
  }),
  kind({
    name: "wallets and delegates",
    body: { events: ["wallet.*", "delegate.*"], conditions: ALWAYS },
    matches: ({ name }) => /^(wallet|delegate)\./.test(name),
  }),
  kind({
    name: "votes, strict",
    body: {
      events: ["wallet.vote", "wallet.unvote", "delegate.registered", "delegate.resigned"],
      conditions: ALWAYS,
      order: "strict",
    },
    matches: named("wallet.vote", "wallet.unvote", "delegate.registered", "delegate.resigned"),
  }),
  kind({
    name: "one wallet",
    body: { event: "wallet.saved", conditions: [when("address", "eq", watched.address)] },
    matches: ({ name, address }) => name === "wallet.saved" && address === watched.address,
    isRemembered: false,
  }),
  kind({
    name: "everything",
    body: { events: ["*"], conditions: ALWAYS },
    matches: () => true,
    reversals: ["block.reverted", "transaction.reverted"],
  }),
];
