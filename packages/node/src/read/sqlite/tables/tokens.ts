/** Tokens with their properties. The database does not store the name under which a token was minted. */
import { createReadTotals } from "../../../store/state/totals.ts";
import { type TokenTerm, tokenTerms } from "../../cursor.ts";
import type { TokenFilter } from "../../filters.ts";
import type { QueriesOf, Tokens } from "../../port.ts";
import type { ListedToken, StoredToken } from "../../rows.ts";
import { type Condition, type Field, indexed, oneOf, text } from "../lists/conditions.ts";
import { termsOf } from "../lists/keyset-cursor.ts";
import { createTableList, type ListDependencies } from "../lists/table-list.ts";
import { createPresentProperties } from "./property-lists.ts";

const LISTED = "tokens.id, owner AS ownerId, type.value AS type, names.value AS explicitValues";
const COLUMNS = `${LISTED}, first_transaction AS firstTransaction, last_transaction AS lastTransaction`;
const JOINS = `LEFT JOIN properties AS type ON type.token = tokens.id AND type.key = 'type'
  LEFT JOIN properties AS names ON names.token = tokens.id AND names.key = 'explicitValues'`;

const ORDERS = { id: text("id"), ownerId: text("owner") } as const satisfies Record<TokenTerm, Field>;

export function createTokenQueries(deps: ListDependencies): QueriesOf<Tokens> {
  const { database } = deps;
  const find = database.prepare<StoredToken>(`SELECT ${COLUMNS} FROM tokens ${JOINS} WHERE tokens.id = +?`);
  const list = createTableList<ListedToken>(deps, "tokens", {
    table: "tokens",
    key: ["id"],
    columns: LISTED,
    joins: JOINS,
  });
  const property = database.prepare<{ value: string }>(
    "SELECT value FROM properties WHERE token = ? AND key = ?",
  );
  const totals = createReadTotals(database);
  return {
    find: (id) => find.get(id),
    list(filter, order, range) {
      const conditions = tokenConditions(filter);
      // The index of owners has the tokens of each by id: they are read as if the list had no filter.
      const isOrderedByIndex = filter.id === undefined && order.field === "id";
      const query = {
        selection: { conditions, order: termsOf(tokenTerms(order), ORDERS) },
        filter: conditions.length === 0 || isOrderedByIndex ? "none" : "values",
        isInOrder: true,
        ...(conditions.length === 0 && { totalCount: Number(totals.of("tokens")) }),
      } as const;
      return list(query, range);
    },
    properties: createPresentProperties(database),
    property: (id, key) => property.get(id, key)?.value,
    storedKeys: (id, keys) => new Set(keys.filter((key) => property.get(id, key))),
    countsByType: totals.tokensByType,
  };
}

const tokenConditions = ({ id: ids, ownerId }: TokenFilter): Condition[] => [
  ...(ids === undefined ? [] : [indexed(oneOf("id", ids), "few")]),
  ...(ownerId === undefined ? [] : [indexed({ sql: "owner = +?", values: [ownerId] }, "some")]),
];
