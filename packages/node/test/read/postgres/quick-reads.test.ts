/** Reads of a shared transaction: which statements are sent. */
import { expect, test } from "vitest";
import { PostgresError } from "../../../src/postgres/postgres-error.ts";
import { prepared, type ReadQuery } from "../../../src/postgres/reads.ts";
import { QuickReads } from "../../../src/read/postgres/shared-transactions.ts";

const ONE = prepared("SELECT one");
const timeout = { code: "POSTGRES_TIMEOUT" };

/** Creates transactions in which statements that contain "slow" exceed the time limit. */
function createTransactions({ cause }: ErrorOptions = { cause: new Error("canceled") }) {
  const sent: unknown[] = [];
  const query = (async (statement: string | { text: string }) => {
    const text = typeof statement === "string" ? statement : statement.text;
    sent.push(text);
    if (text.includes("slow")) throw new PostgresError("POSTGRES_TIMEOUT", cause);
    return [];
  }) as ReadQuery<number>;
  const quick = new QuickReads<number>();
  return { sent, begin: () => quick.limited(query) };
}

test("After a slow statement, a transaction sends no statement of a list, but those of single resources.", async () => {
  const { sent, begin } = createTransactions();
  const query = begin();
  await expect(query("slow list")).rejects.toMatchObject(timeout);
  await expect(query("list")).rejects.toMatchObject(timeout);
  expect(await query(ONE)).toEqual([]);
  expect(await begin()("list")).toEqual([]);
  expect(sent).toEqual(["slow list", "SELECT one", "list"]);
});

test("A slow statement is not sent again with the same values.", async () => {
  const { sent, begin } = createTransactions();
  await expect(begin()("slow list", [1])).rejects.toMatchObject(timeout);
  await expect(begin()("slow list", [1])).rejects.toMatchObject(timeout);
  await expect(begin()("slow list", [2])).rejects.toMatchObject(timeout);
  const slow = prepared("slow one");
  await expect(begin()(slow)).rejects.toMatchObject(timeout);
  await expect(begin()(slow)).rejects.toMatchObject(timeout);
  expect(sent).toEqual(["slow list", "slow list", "slow one"]);
});

test("A statement is sent again if another one took its time.", async () => {
  const { sent, begin } = createTransactions({});
  await expect(begin()("slow list")).rejects.toMatchObject(timeout);
  await expect(begin()("slow list")).rejects.toMatchObject(timeout);
  expect(sent).toEqual(["slow list", "slow list"]);
});
