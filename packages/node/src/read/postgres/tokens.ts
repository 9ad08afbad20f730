/** Tokens with their properties. The database does not store the name under which a token was minted. */
import { present } from "../../platform/present.ts";
import { prepared } from "../../postgres/reads.ts";
import type { TokenFilter } from "../filters.ts";
import { perSnapshot } from "../head.ts";
import { type TokenTerm, tokenTerms } from "../orders.ts";
import type { Tokens } from "../port.ts";
import type { StoredToken } from "../rows.ts";
import { bytesOf, textOf } from "./bytes.ts";
import { type Condition, type Field, isOneOf, isStorable, isText, text } from "./lists/conditions.ts";
import { termsOf } from "./lists/keyset-cursor.ts";
import { findPage } from "./lists/page.ts";
import { first, type SnapshotReads } from "./lists/reads.ts";
import {
  firstOf,
  hex,
  nullable,
  type PageFields,
  type RowFields,
  rowText,
  splitRows,
  textOfHex,
  textOfRows,
} from "./row-text.ts";

/** The properties of a token that lists contain. */
type Properties = Pick<StoredToken, "type" | "explicitValues">;
/** A token whose properties are not read yet. */
type WithoutProperties = Omit<StoredToken, keyof Properties> & {
  -readonly [Key in keyof Properties]: Properties[Key];
};

/** @param type, names SQL of two properties */
const rowWith = (type: string, names: string) =>
  rowText(
    ["tokens.id", "owner", "first_transaction", "last_transaction", nullable(type), nullable(names)],
    ([id, ownerId, firstTransaction, lastTransaction, type, names]): WithoutProperties => ({
      id,
      ownerId,
      firstTransaction,
      lastTransaction,
      type: textOfHex(type),
      explicitValues: textOfHex(names),
    }),
  );
const TABLE = { table: "tokens", key: ["id"] };
// Subqueries for each row would be more than half of the statement of a page.
const LISTED = { ...TABLE, row: rowWith("NULL", "NULL") };
/** Returns SQL of a property of the token. A join would make the planner consider reading all properties. */
const property = (key: string) =>
  hex(`(SELECT value FROM properties WHERE token = tokens.id AND key = '${key}'::bytea)`);
const SINGLE = rowWith(property("type"), property("explicitValues"));
const COLUMNS = { id: text("id"), ownerId: text("owner") } as const satisfies Record<TokenTerm, Field>;
const FIND = prepared(`SELECT ${SINGLE.sql} FROM tokens WHERE id = $1`);
const LISTED_PROPERTIES = prepared(
  `SELECT ${textOfRows(["token", "encode(key, 'escape')", hex("value")])}
   FROM properties WHERE token = ANY ($1) AND key IN ('type'::bytea, 'explicitValues'::bytea)`,
);
const PROPERTIES = prepared("SELECT key, value FROM properties WHERE token = $1 ORDER BY key");
const PROPERTY = prepared("SELECT value FROM properties WHERE token = $1 AND key = $2");
const COUNTS = prepared(
  `SELECT value, count(*)::float8 AS count FROM properties WHERE key = 'type'::bytea GROUP BY value ORDER BY value`,
);

export function createTokens(): (reads: SnapshotReads) => Tokens {
  const countsByType = perSnapshot(async ({ query }: SnapshotReads) => {
    const rows = await query<{ value: Uint8Array; count: number }>(COUNTS);
    return new Map(rows.map(({ value, count }) => [textOf(value), count]));
  });
  return (reads) => {
    const { query } = reads;
    return {
      find: async (id) => (isStorable(id) ? firstOf(SINGLE, query<RowFields>(FIND, [id])) : undefined),
      async list(filter, order, range) {
        const conditions = conditionsOf(filter);
        const terms = termsOf(tokenTerms(order), COLUMNS);
        const isPrepared = conditions.length === 0 && terms.length === 1;
        const selection = { conditions, order: terms, isPrepared };
        const page = await findPage(reads, LISTED, selection, range);
        await readProperties(reads, page.rows);
        return page;
      },
      async properties(id) {
        if (!isStorable(id)) return [];
        const rows = await query<{ key: Uint8Array; value: Uint8Array }>(PROPERTIES, [id]);
        return rows.map(({ key, value }) => ({ key: textOf(key), value: textOf(value) }));
      },
      async property(id, key) {
        if (!isStorable(id)) return undefined;
        const row = await first(query<{ value: Uint8Array }>(PROPERTY, [id, bytesOf(key)]));
        return row && textOf(row.value);
      },
      countsByType: () => countsByType(reads),
    };
  };
}

/** Sets the properties of listed tokens. */
async function readProperties({ query }: SnapshotReads, tokens: readonly WithoutProperties[]): Promise<void> {
  if (tokens.length === 0) return;
  const byId = new Map(tokens.map((token) => [token.id, token]));
  const [found] = await query<PageFields>(LISTED_PROPERTIES, [[...byId.keys()]]);
  for (const [id, key, value] of splitRows(present(found), 3)) {
    const token = present(byId.get(present(id)), "a listed token");
    token[key as keyof Properties] = textOfHex(present(value));
  }
}

const conditionsOf = ({ id: ids, ownerId }: TokenFilter): Condition[] => [
  ...(ids === undefined ? [] : [isOneOf("id", ids)]),
  ...(ownerId === undefined ? [] : [isText("owner", ownerId)]),
];
