/** The examples of docs/list-queries.md: each request has the plan of its section, and its statements run. */
import { readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import {
  FAR,
  FAR_IN_INDEX,
  MAX_LOOKED_UP,
  MAX_SORTED,
  MAX_SORTED_OF_TABLE,
  type Plan,
} from "../../src/read/sqlite/lists/planner.ts";
import { readValueIndexAt } from "../../src/read/sqlite/lists/value-index-cache.ts";
import { recountTypes } from "../../src/store/chain/transactions.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { countState } from "../../src/store/state/totals.ts";
import { alice, cold } from "../../test-support/http/chain.ts";
import { openFixture } from "../../test-support/http/fixture.ts";
import { longer } from "../../test-support/http/longer.ts";
import { createInventedBlocks } from "../../test-support/store/invented-blocks.ts";
import { createInventedTransactions } from "../../test-support/store/invented-transactions.ts";

const page = readFileSync(new URL("../../../../docs/list-queries.md", import.meta.url), "utf8");

const files = openFixture({}, {}, longer);
const real = openDatabase(files.path, { readonly: true });
/** Statements of the last request. */
const statements: string[] = [];
const watched: Database = {
  ...real,
  prepare(sql, options) {
    const statement = real.prepare<never>(sql, options);
    return {
      run: (...parameters) => statement.run(...parameters),
      iterate(...parameters) {
        statements.push(sql);
        return statement.iterate(...parameters);
      },
      get(...parameters) {
        statements.push(sql);
        return statement.get(...parameters);
      },
      all(...parameters) {
        statements.push(sql);
        return statement.all(...parameters);
      },
    };
  },
};
const plans: Plan[] = [];
const fixture = openFixture(
  {
    onPlan: (plan) => plans.push(plan),
    valueIndexes: {
      build: async (definition, maxBytes) => readValueIndexAt(watched, definition, maxBytes),
      maxShare: 1,
    },
  },
  { database: watched },
);
afterAll(async () => {
  await fixture.close();
  await files.close();
  real.close();
});

/** More transactions than value indexes require, and more wallets than an offset cache skips. */
const [FIRST_HEIGHT, BLOCKS, PER_BLOCK, WALLETS] = [7, 600, 10, 3_500];
const writer = openDatabase(files.path);
writer.transaction(() => {
  const open = writer.prepare("INSERT INTO wallets VALUES (?, NULL, ?, 0, NULL, NULL, NULL, '{}')");
  for (let index = 0; index < WALLETS; index++) open.run(`D${index}`.padEnd(34, "x"), index);
  const forge = createInventedBlocks(writer);
  const append = createInventedTransactions(writer);
  const parties = { sender: alice.publicKey, recipient: cold.address };
  for (let height = FIRST_HEIGHT; height < FIRST_HEIGHT + BLOCKS; height++) {
    forge({ height, id: `${height}`, numberOfTransactions: PER_BLOCK, generator: alice.publicKey });
    for (let sequence = 0; sequence < PER_BLOCK; sequence++) {
      append({ height, sequence, ...parties, amount: sequence % 7 });
    }
  }
});
recountTypes(writer);
countState(writer);
writer.close();

type Example = { readonly plan: string; readonly path: string; readonly sql: readonly string[] };

/** The sections of the plans, with the request and the statements of each. */
const examples: Example[] = page
  .split("## Plans\n")
  .slice(1)
  .flatMap((text) => text.split("\n### ").slice(1))
  .map((section) => ({
    plan: present(section.split("\n")[0]).toLowerCase(),
    path: present(/```\nGET (\S+)\n```/.exec(section)?.[1]),
    sql: present(/```sql\n(.*?)```/s.exec(section)?.[1])
      .split(/;\n/)
      .filter((text) => text.trim() !== ""),
  }));

/** Removes comments, and white space that does not matter. */
const plain = (sql: string): string =>
  sql
    .replace(/^--.*$/gm, "")
    .replace(/\s+/g, " ")
    .replace(/ ?([(),]) ?/g, "$1")
    .trim();

/** Returns a pattern of a statement, in which `...` is a list of columns. */
const patternOf = (sql: string): RegExp =>
  new RegExp(`^${RegExp.escape(plain(sql)).replaceAll(RegExp.escape("..."), ".+?")}$`);

test("The page has an example of every plan.", () => {
  const named: readonly Plan[] = [
    "row number",
    "index scan",
    "offset cache",
    "position list",
    "value index",
    "time-boxed scan",
    "empty",
  ];
  expect(examples.map(({ plan }) => plan)).toEqual(named);
});

test.each(examples)("$plan: $path", async ({ plan, path, sql }) => {
  const separator = path.includes("?") ? "&" : "?";
  plans.length = 0;
  statements.length = 0;
  // The first request begins to build the value index; the next one has another URL, which no cache has.
  await fixture.get(path);
  const response = await fixture.get(`${path}${separator}=`);
  expect(response.statusCode).toBe(200);
  expect(plans.at(-1)).toBe(plan);
  expect(sql.length).toBeGreaterThan(0);
  for (const statement of sql)
    expect(statements.map(plain)).toContainEqual(expect.stringMatching(patternOf(statement)));
});

test.each(["", "?offset=1", "?orderBy=timestamp:asc", "?height=1"])(
  "Blocks in the order of their heights are found by their numbers: /blocks%s",
  async (query) => {
    plans.length = 0;
    expect((await fixture.get(`/api/blocks${query}`)).statusCode).toBe(200);
    expect(plans).toEqual(["row number"]);
  },
);

test.each(["recipientId", "fee"])(
  "Transactions of a frequent sender with a frequent %s are not looked up one by one.",
  async (filter) => {
    const value = { recipientId: cold.address, fee: 1 }[filter];
    const path = `/api/transactions?senderPublicKey=${alice.publicKey}&${filter}=${value}`;
    // The first request begins to build the value index of the fees.
    await fixture.get(path);
    plans.length = 0;
    const { meta } = (await fixture.get(`${path}&`)).json();
    expect(meta.totalCount).toBeGreaterThan(MAX_LOOKED_UP);
    expect(plans).toEqual(["time-boxed scan"]);
  },
);

test("The decision table has the bounds of the planner.", () => {
  const [, table = ""] = page.split("## Decision table\n");
  const bounds = [FAR, FAR_IN_INDEX, MAX_LOOKED_UP, MAX_SORTED, MAX_SORTED_OF_TABLE];
  for (const bound of bounds) expect(table.split("## Plans\n")[0]).toContain(bound.toLocaleString("en"));
});

test.each(["", "/locks", "/transactions", "/transactions/sent", "/uniks", "/votes"])(
  "GET /wallets/{id}%s reads what the wallet holds only if the response contains it.",
  async (list) => {
    statements.length = 0;
    expect((await fixture.get(`/api/wallets/${alice.address}${list}`)).statusCode).toBe(200);
    const reads = statements.filter((sql) => sql.includes("FROM holdings WHERE address = ?"));
    expect(reads.length).toBe(list === "" ? 1 : 0);
  },
);
