/** Files of exported lists. */
import { expect, test } from "vitest";
import { type Cells, type Format, MAX_ROWS, partsOf } from "../../src/components/export/rows.ts";

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function textOf(rows: readonly Cells[], format: Format): Promise<string> {
  async function* list() {
    yield* rows;
  }
  return (await collect(partsOf(list(), format))).join("");
}

test("A CSV has names, and quotes if a value needs them.", async () => {
  const rows = [
    { address: "D1", text: 'say "hi", please' },
    { address: "D2", text: "two\nlines" },
  ];
  expect(await textOf(rows, "csv")).toBe('address,text\nD1,"say ""hi"", please"\nD2,"two\nlines"\n');
});

test("Foreign text is not a formula of a spreadsheet; a number can be negative.", async () => {
  const rows = ["=1+1", "+1", "-1", "@x", "\tx"].map((text) => ({ text, amount: -5 }));
  expect(await textOf(rows, "csv")).toBe("text,amount\n'=1+1,-5\n'+1,-5\n'-1,-5\n'@x,-5\n'\tx,-5\n");
});

test("A JSON file is one array, which is empty without rows.", async () => {
  const rows = [{ id: "a" }, { id: "b" }];
  expect(JSON.parse(await textOf(rows, "json"))).toEqual(rows);
  expect(JSON.parse(await textOf([], "json"))).toEqual([]);
});

test("A file ends at its bound, and the rest is not read.", async () => {
  let read = 0;
  async function* endless() {
    for (;;) {
      read++;
      yield { id: read };
    }
  }
  const parts = await collect(partsOf(endless(), "csv"));
  expect([parts.length, read]).toEqual([MAX_ROWS, MAX_ROWS]);
});
