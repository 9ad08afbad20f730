/** Tokens with their properties. The database does not store the name under which a token was minted. */
import { present } from "../../platform/present.ts";
import { prepared } from "../../postgres/reads.ts";
import { cursorAt, PROPERTY_TERMS, type TokenTerm, tokenTerms } from "../cursor.ts";
import type { TokenFilter, TokenOrder } from "../filters.ts";
import type { Found, PropertyRange, Range } from "../page.ts";
import { perSnapshot, type Tokens } from "../port.ts";
import type { ListedToken, StoredToken, TokenProperty } from "../rows.ts";
import type { Field } from "../sql.ts";
import { type Condition, isOneOf, isStorable, isText, termsOf, text } from "./lists/conditions.ts";
import { findPage } from "./lists/page.ts";
import { findRow, first, type SnapshotReads } from "./lists/reads.ts";
import {
  bytesOf,
  bytesOfHex,
  hex,
  nullable,
  rowText,
  splitRows,
  textOf,
  textOfHex,
  textOfRows,
} from "./row-text.ts";

/** The properties that lists contain. */
type Properties = Pick<StoredToken, "type" | "explicitValues">;
type Row = Omit<ListedToken, keyof Properties> & { -readonly [Key in keyof Properties]: Properties[Key] };

/** Returns SQL of a property of the token. A join would make the planner consider reading all properties. */
const property = (key: string) =>
  nullable(hex(`(SELECT value FROM properties WHERE token = tokens.id AND key = '${key}'::bytea)`));

const SINGLE = rowText(
  ["id", "owner", "first_transaction", "last_transaction", property("type"), property("explicitValues")],
  ([id, ownerId, firstTransaction, lastTransaction, type, names]): StoredToken => ({
    id,
    ownerId,
    firstTransaction,
    lastTransaction,
    type: textOfHex(type),
    explicitValues: textOfHex(names),
  }),
);
const LISTED = {
  table: "tokens",
  key: ["id"],
  row: rowText(["id", "owner"], ([id, ownerId]): Row => ({ id, ownerId, type: null, explicitValues: null })),
  related: {
    sql: `SELECT ${textOfRows(["token", "encode(key, 'escape')", hex("value")])}
      FROM properties WHERE token = ANY (keys) AND key IN ('type'::bytea, 'explicitValues'::bytea)`,
    add: addProperties,
  },
};
const COLUMNS = { id: text("id"), ownerId: text("owner") } as const satisfies Record<TokenTerm, Field>;
const FIND = prepared(`SELECT ${SINGLE.sql} FROM tokens WHERE id = $1`);
const PROPERTIES = {
  table: "properties",
  key: ["token", "key"],
  row: rowText(
    [hex("key"), hex("value")],
    ([key, value]): TokenProperty => ({
      key: textOf(bytesOfHex(key)),
      value: textOf(bytesOfHex(value)),
    }),
  ),
};
const BY_KEY = termsOf(PROPERTY_TERMS, { key: { column: "key" } });
const STORED_KEYS = prepared("SELECT key FROM properties WHERE token = $1 AND key = ANY ($2::bytea[])");
const PROPERTY = prepared("SELECT value FROM properties WHERE token = $1 AND key = $2");
const COUNTS = prepared(
  `SELECT value, count(*)::float8 AS count FROM properties
   WHERE key = 'type'::bytea AND value IN ('1'::bytea, '2'::bytea, '3'::bytea) GROUP BY value ORDER BY value`,
);

/** Counts of tokens by their type, which are read once per head. */
export const countsByTypePerHead = () =>
  perSnapshot(async ({ query }: SnapshotReads) => {
    const rows = await query<{ value: Uint8Array; count: number }>(COUNTS);
    return new Map(rows.map(({ value, count }) => [textOf(value), count]));
  });

export class PostgresTokens implements Tokens {
  readonly #reads: SnapshotReads;
  readonly #countsByType: ReturnType<typeof countsByTypePerHead>;

  constructor(reads: SnapshotReads, countsByType: ReturnType<typeof countsByTypePerHead>) {
    this.#reads = reads;
    this.#countsByType = countsByType;
  }

  find(id: string): Promise<StoredToken | undefined> {
    return findRow(this.#reads, SINGLE, FIND, id);
  }

  async list(filter: TokenFilter, asked: TokenOrder, range: Range): Promise<Found<ListedToken>> {
    const conditions = conditionsFor(filter);
    const order = termsOf(tokenTerms(asked), COLUMNS);
    const isPrepared = conditions.length === 0 && order.length === 1;
    return findPage(this.#reads, LISTED, { conditions, order, isPrepared }, range);
  }

  async properties(id: string, { afterKey, ...range }: PropertyRange): Promise<Found<TokenProperty>> {
    const from = afterKey === undefined ? {} : { after: cursorAt(BY_KEY, [bytesOf(afterKey)]) };
    const selection = { conditions: [isText("token", id)], order: BY_KEY };
    return findPage(this.#reads, PROPERTIES, selection, { ...range, ...from });
  }

  async storedKeys(id: string, keys: readonly string[]): Promise<Set<string>> {
    if (!isStorable(id)) return new Set();
    const rows = await this.#reads.query<{ key: Uint8Array }>(STORED_KEYS, [id, keys.map(bytesOf)]);
    return new Set(rows.map(({ key }) => textOf(key)));
  }

  async property(id: string, key: string): Promise<string | undefined> {
    if (!isStorable(id)) return undefined;
    const row = await first(this.#reads.query<{ value: Uint8Array }>(PROPERTY, [id, bytesOf(key)]));
    return row && textOf(row.value);
  }

  countsByType(): Promise<ReadonlyMap<string, number>> {
    return this.#countsByType(this.#reads);
  }
}

function addProperties(rows: readonly Row[], text: string | null): void {
  if (text === null) return;
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const [id, key, value] of splitRows(text, 3)) {
    // A page selects one more row than it shows.
    const row = byId.get(present(id));
    if (row) row[key as keyof Properties] = textOfHex(present(value));
  }
}

const conditionsFor = ({ id: ids, ownerId }: TokenFilter): Condition[] => [
  ...(ids === undefined ? [] : [isOneOf("id", ids)]),
  ...(ownerId === undefined ? [] : [isText("owner", ownerId)]),
];
