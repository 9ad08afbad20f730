/** Tokens with their properties. The database does not store the name under which a token was minted. */
import { prepared } from "../../postgres/reads.ts";
import type { TokenFilter } from "../filters.ts";
import { perSnapshot } from "../head.ts";
import { type TokenTerm, tokenTerms } from "../orders.ts";
import type { Tokens } from "../port.ts";
import type { StoredToken } from "../rows.ts";
import { bytesOf, textOf, textOrNull } from "./bytes.ts";
import { type Condition, type Field, isOneOf, isStorable, isText, text } from "./pages/conditions.ts";
import { termsOf } from "./pages/order.ts";
import { findPage } from "./pages/page.ts";
import { first, type SnapshotReads } from "./pages/reads.ts";

const LISTED = {
  table: "tokens",
  key: ["id"],
  columns: `id, owner AS "ownerId", first_transaction AS "firstTransaction", last_transaction AS "lastTransaction",
    type.value AS type, names.value AS "explicitValues"`,
  joins: `LEFT JOIN properties AS type ON type.token = id AND type.key = 'type'::bytea
    LEFT JOIN properties AS names ON names.token = id AND names.key = 'explicitValues'::bytea`,
};
const COLUMNS = { id: text("id"), ownerId: text("owner") } as const satisfies Record<TokenTerm, Field>;
const FIND = prepared(`SELECT ${LISTED.columns} FROM tokens ${LISTED.joins} WHERE id = $1`);
const PROPERTIES = prepared("SELECT key, value FROM properties WHERE token = $1 ORDER BY key");
const PROPERTY = prepared("SELECT value FROM properties WHERE token = $1 AND key = $2");
const COUNTS = prepared(
  `SELECT value, count(*)::float8 AS count FROM properties WHERE key = 'type'::bytea GROUP BY value ORDER BY value`,
);

type TokenRow = Omit<StoredToken, "type" | "explicitValues"> & {
  readonly type: Uint8Array | null;
  readonly explicitValues: Uint8Array | null;
};

export function createTokens(): (reads: SnapshotReads) => Tokens {
  const countsByType = perSnapshot(async ({ query }: SnapshotReads) => {
    const rows = await query<{ value: Uint8Array; count: number }>(COUNTS);
    return new Map(rows.map(({ value, count }) => [textOf(value), count]));
  });
  return (reads) => {
    const { query } = reads;
    return {
      async find(id) {
        const row = isStorable(id) ? await first(query<TokenRow>(FIND, [id])) : undefined;
        return row && tokenFromRow(row);
      },
      async list(filter, order, range) {
        const selection = { conditions: conditionsOf(filter), order: termsOf(tokenTerms(order), COLUMNS) };
        const { rows, ...found } = await findPage<TokenRow>(reads, LISTED, selection, range);
        return { rows: rows.map(tokenFromRow), ...found };
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

const tokenFromRow = ({ type, explicitValues, ...row }: TokenRow): StoredToken => ({
  ...row,
  type: textOrNull(type),
  explicitValues: textOrNull(explicitValues),
});

const conditionsOf = ({ id: ids, ownerId }: TokenFilter): Condition[] => [
  ...(ids === undefined ? [] : [isOneOf("id", ids)]),
  ...(ownerId === undefined ? [] : [isText("owner", ownerId)]),
];
