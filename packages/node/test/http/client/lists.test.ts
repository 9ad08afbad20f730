/**
 * The client has exactly the filters and orders of `read/lists.ts`. The compiler compares; it names the
 * differences.
 */
import type { Client } from "@uniknode/client";
import { expectTypeOf, test } from "vitest";
import type { ListDefinition, QueryName, SearchName } from "../../../src/read/list-definition.ts";
import type * as lists from "../../../src/read/lists.ts";

type Lists = typeof lists;
type Options<F extends (...parameters: never[]) => unknown, Position extends number> = NonNullable<
  Parameters<F>[Position]
>;
/** Parameters of lists that are not filters. */
type Other = "orderBy" | "transform";
type Filters<Query> = Exclude<keyof Query, Other>;
/** Members of a search that are intervals; an object with arbitrary members is not one. */
type Intervals<Search> = {
  [Name in keyof Search]-?: keyof NonNullable<Search[Name]> extends "from" | "to" ? Name : never;
}[keyof Search];
type OrderText<L extends ListDefinition> = `${L["orders"][number]}:${"asc" | "desc"}`;
type OrderIn<Query> = Query extends { readonly orderBy?: infer Order } ? NonNullable<Order> : never;

type Query<
  R extends keyof Client,
  F extends keyof Client[R],
  Position extends number = 0,
> = Client[R][F] extends (...parameters: never[]) => unknown ? Options<Client[R][F], Position> : never;

test("Every list of the client has the filters of its definition.", () => {
  expectTypeOf<Filters<Query<"blocks", "list">>>().toEqualTypeOf<QueryName<Lists["BLOCKS"]>>();
  expectTypeOf<Filters<Query<"blocks", "transactions", 1>>>().toEqualTypeOf<
    QueryName<Lists["BLOCK_TRANSACTIONS"]>
  >();
  expectTypeOf<Filters<Query<"delegates", "list">>>().toEqualTypeOf<QueryName<Lists["DELEGATES"]>>();
  expectTypeOf<Filters<Query<"delegates", "blocks", 1>>>().toEqualTypeOf<
    QueryName<Lists["DELEGATE_BLOCKS"]>
  >();
  expectTypeOf<Filters<Query<"delegates", "voters", 1>>>().toEqualTypeOf<QueryName<Lists["VOTERS"]>>();
  expectTypeOf<Filters<Query<"entities", "list">>>().toEqualTypeOf<QueryName<Lists["ENTITIES"]>>();
  expectTypeOf<Filters<Query<"locks", "list">>>().toEqualTypeOf<QueryName<Lists["LOCKS"]>>();
  // The client does not offer filters without effect.
  expectTypeOf<Filters<Query<"peers", "list">>>().toEqualTypeOf<Exclude<QueryName<Lists["PEERS"]>, "ip">>();
  expectTypeOf<Filters<Query<"transactions", "list">>>().toEqualTypeOf<QueryName<Lists["TRANSACTIONS"]>>();
  expectTypeOf<Filters<Query<"uniks", "list">>>().toEqualTypeOf<QueryName<Lists["UNIKS"]>>();
  expectTypeOf<Filters<Query<"votes", "list">>>().toEqualTypeOf<QueryName<Lists["VOTES"]>>();
  expectTypeOf<Filters<Query<"wallets", "list">>>().toEqualTypeOf<QueryName<Lists["WALLETS"]>>();
  expectTypeOf<Filters<Query<"wallets", "history", 1>>>().toEqualTypeOf<QueryName<Lists["BALANCES"]>>();
  expectTypeOf<Filters<Query<"wallets", "top">>>().toEqualTypeOf<QueryName<Lists["RICHEST_WALLETS"]>>();
  expectTypeOf<Filters<Query<"wallets", "locks", 1>>>().toEqualTypeOf<QueryName<Lists["WALLET_LOCKS"]>>();
  expectTypeOf<Filters<Query<"wallets", "transactions", 1>>>().toEqualTypeOf<
    QueryName<Lists["WALLET_TRANSACTIONS"]>
  >();
  expectTypeOf<Filters<Query<"wallets", "sent", 1>>>().toEqualTypeOf<QueryName<Lists["SENT_TRANSACTIONS"]>>();
  expectTypeOf<Filters<Query<"wallets", "received", 1>>>().toEqualTypeOf<
    QueryName<Lists["RECEIVED_TRANSACTIONS"]>
  >();
});

test("Every search of the client has the members of its definition, values and intervals.", () => {
  type Members<L extends ListDefinition> = [all: SearchName<L>, intervals: SearchName<L, "interval">];
  type MembersOf<Search> = [all: Filters<Search>, intervals: Intervals<Search>];
  expectTypeOf<MembersOf<Query<"blocks", "search">>>().toEqualTypeOf<Members<Lists["BLOCKS"]>>();
  expectTypeOf<MembersOf<Query<"delegates", "search">>>().toEqualTypeOf<Members<Lists["DELEGATES"]>>();
  expectTypeOf<MembersOf<Query<"entities", "search">>>().toEqualTypeOf<Members<Lists["ENTITIES"]>>();
  expectTypeOf<MembersOf<Query<"locks", "search">>>().toEqualTypeOf<Members<Lists["LOCKS"]>>();
  expectTypeOf<MembersOf<Query<"transactions", "search">>>().toEqualTypeOf<Members<Lists["TRANSACTIONS"]>>();
  expectTypeOf<MembersOf<Query<"uniks", "search">>>().toEqualTypeOf<Members<Lists["UNIKS"]>>();
  expectTypeOf<MembersOf<Query<"wallets", "search">>>().toEqualTypeOf<Members<Lists["WALLETS"]>>();
});

test("Every list of the client has the orders of its definition.", () => {
  expectTypeOf<OrderIn<Query<"blocks", "list">>>().toEqualTypeOf<OrderText<Lists["BLOCKS"]>>();
  // Or the number of a column.
  expectTypeOf<Exclude<OrderIn<Query<"delegates", "list">>, number>>().toEqualTypeOf<
    OrderText<Lists["DELEGATES"]>
  >();
  expectTypeOf<OrderIn<Query<"entities", "list">>>().toEqualTypeOf<OrderText<Lists["ENTITIES"]>>();
  expectTypeOf<OrderIn<Query<"locks", "list">>>().toEqualTypeOf<OrderText<Lists["LOCKS"]>>();
  expectTypeOf<OrderIn<Query<"peers", "list">>>().toEqualTypeOf<OrderText<Lists["PEERS"]>>();
  expectTypeOf<OrderIn<Query<"transactions", "list">>>().toEqualTypeOf<OrderText<Lists["TRANSACTIONS"]>>();
  expectTypeOf<OrderIn<Query<"uniks", "list">>>().toEqualTypeOf<OrderText<Lists["UNIKS"]>>();
  expectTypeOf<OrderIn<Query<"wallets", "list">>>().toEqualTypeOf<OrderText<Lists["WALLETS"]>>();
});
