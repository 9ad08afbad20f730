/** The schemas of earlier versions, and the creation of this version's schema around rows that are copied. */
import { createHash } from "node:crypto";
import { type Database, openDatabase } from "../engine/database.ts";
import { migrate } from "../engine/migrations.ts";

/**
 * SHA-256 of the schemas that earlier versions created, by the last migration of each. A file from outside with such a schema has no
 * views and triggers of its own.
 */
const EARLIER: Readonly<Record<string, string>> = {
  "008-queues": "b9db50a67a53d16ed647dfbd93eec667a3c5324d4825a4cc2a3a8ea34cb37590",
  "009-type-totals": "1fbe3913ae9a7e568add845d51f8ed4530845736f839d060aa1639073c56b6e6",
  "010-facts": "04cd7fae19e0280235cc139a6338fcffcccc53f260eeac03230bd015a6b27309",
  "011-restarts": "afcaa00311891537d56134cb162d240cbdce85cc86a1185b725210439c0530a1",
  "012-attempt-counts": "f69ad5fa55b2e878ff5769abea42817faebfbfaa9f1323eefc27ed1006c7e4f6",
  "013-webhook-names": "b75ef2c0b3b80acdf60424a3f4efe76087af1c8e9f3d8abe4b7c404fbadbe967",
  "014-feed": "86534db6706b3ee7f87c4bd8a817b4ce1665c2a41b73379b9fa12b15738ecf1d",
  "015-remote-names": "a048f42c1bd0c3d0ce907b1e4832eb8fe971ea80a0dcf4a1b83adebd38c7623a",
  "016-confirmations": "5c03899c878b0924960b8c7191222e31b5118862f8c726af07a14a5018f282bb",
  "017-lean-blocks": "af1dbbf227c9c24ebf5bf73ddcb3f3c50ca34ac31b2352eb4f37de696827e6ed",
  "018-packed-rounds": "f3113af0f9a2f3a067423aa839acd8478c3721cb96fa184d9b96c6cd8cbb997f",
  "019-names": "c29e08e69b8d276778c47631e57d939bbafb8914cee9c654333968d410e63727",
  "020-baseline": "60e788f719c16bfbfd6d73c982f3507b0d890b2b8b9a2b5c9e7ab32b4b51d182",
  "021-webhook-proofs": "bae1aabd7acd355bf3e55793812f41283cb4baf71ac4a08dcf8f097d9405c1df",
  "022-map-of-uniks": "37044ed4fcfe6011f231ef80f44511b93fe0c08f8c03a432993d1d40bf4c6fa2",
  "023-history": "d4b5061e83119460188cd3cfc8baf985f67b523def09f061ee04c9943279063c",
  "027-fill-holdings": "1082908dba3d20797ce990c9f24b36c29532b9541307945c9aa4dd411e4ea438",
  "001-baseline": "84d9fa20514bce5cb3c2e9acf1602576d1a056e7d782f0f9c5910a7b731f9f78",
};

type SchemaObject = { readonly type: string; readonly name: string; readonly sql: string };

const OBJECTS = (schema: string) =>
  `SELECT type, name, tbl_name, sql FROM ${schema}.sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;

/** Returns the schema as text that is the same for the same tables, indexes, views and triggers. */
export const schemaText = (database: Database, schema: string): string =>
  JSON.stringify(database.prepare(`${OBJECTS(schema)} ORDER BY type, name`).all());

/** Returns true if the text is the schema of an earlier version. */
export const isEarlierSchema = (text: string): boolean => Object.values(EARLIER).includes(sha256Of(text));

/** Returns the hash of the schema of this version. */
export const currentSchemaHash = (): string => withModel((model) => sha256Of(schemaText(model, "main")));

const sha256Of = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Creates the tables of this version, without indexes and triggers. */
export function createTables(database: Database): void {
  withModel((model) => {
    for (const { type, sql } of objectsOf(model)) if (type === "table") database.execute(sql);
    // A scan of the copied rows would take long: the numbers of the model do not depend on them.
    database.execute("ANALYZE");
  });
}

/** Returns the SQL of the indexes, triggers and views that are missing, each with its name. */
export function missingObjects(database: Database): SchemaObject[] {
  const existing = new Set(objectsOf(database).map(({ name }) => name));
  return withModel((model) => objectsOf(model).filter(({ name }) => !existing.has(name)));
}

/** Marks the database as one of this version, whose tables, indexes and triggers are complete. */
export function recordSchema(database: Database): void {
  withModel((model) => {
    copyRows(model, database, "sqlite_stat1");
    copyRows(model, database, "migrations");
  });
}

function copyRows(from: Database, to: Database, table: string): void {
  to.execute(`DELETE FROM ${table}`);
  for (const row of from.prepare<Record<string, string>>(`SELECT * FROM ${table}`).iterate()) {
    const values = Object.values(row);
    to.prepare(`INSERT INTO ${table} VALUES (${values.map(() => "?").join()})`).run(...values);
  }
}

const objectsOf = (database: Database): SchemaObject[] =>
  database.prepare<SchemaObject>(`${OBJECTS("main")} ORDER BY rowid`).all();

/** Calls a function with an empty database of this version. */
function withModel<T>(use: (model: Database) => T): T {
  const model = openDatabase(":memory:");
  try {
    migrate(model);
    return use(model);
  } finally {
    model.close();
  }
}
