import { beforeEach, describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";
import { Dictionary } from "../../../src/store/engine/dictionary.ts";

const ADDRESSES = { table: "addresses", column: "address", isHex: false, maxLength: 35 };
const KEYS = { table: "keys", column: "public_key", isHex: true, maxLength: 66 };

let database: Database;
beforeEach(() => {
  database = openDatabase(":memory:");
  database.execute(`CREATE TABLE addresses (number INTEGER PRIMARY KEY, address TEXT UNIQUE) STRICT;
    CREATE TABLE keys (number INTEGER PRIMARY KEY, public_key BLOB UNIQUE) STRICT`);
});

describe("a dictionary", () => {
  test("A dictionary returns the same number for a text, also after it has forgotten it.", () => {
    const dictionary = new Dictionary(database, ADDRESSES);
    const numbers = ["a", "b", "a"].map((text) => dictionary.numberOf(text));
    expect(numbers).toEqual([1, 2, 1]);
    dictionary.reset();
    expect(["b", "c"].map((text) => dictionary.numberOf(text))).toEqual([2, 3]);
  });

  test("A dictionary stores hexadecimal texts as bytes.", () => {
    const number = new Dictionary(database, KEYS).numberOf("02ff");
    expect(database.prepare("SELECT hex(public_key) AS key FROM keys").get()).toEqual({ key: "02FF" });
    expect(new Dictionary(database, KEYS).textOf(number)).toBe("02ff");
  });

  test("A dictionary refuses a number without a text.", () => {
    const dictionary = new Dictionary(database, ADDRESSES);
    expect(() => dictionary.textOf(7)).toThrow("the row of addresses with the number 7");
    dictionary.load([7]);
    expect(() => dictionary.textOf(7)).toThrow("the row of addresses with the number 7");
  });

  test.each([ADDRESSES, KEYS])(
    "A dictionary loads the texts of several numbers of $table at once.",
    (table) => {
      const texts = ["02", "03", "04"];
      const first = new Dictionary(database, table);
      const numbers = texts.map((text) => first.numberOf(text));
      const dictionary = new Dictionary(database, table);
      dictionary.load([...numbers, ...numbers]);
      // Only the cache still has them.
      database.execute(`DELETE FROM ${table.table}`);
      dictionary.load(numbers);
      expect(numbers.map((number) => dictionary.textOf(number))).toEqual(texts);
    },
  );

  test("A dictionary returns every text of a load that the cache does not have space for.", () => {
    const texts = Array.from({ length: 131_080 }, (_, index) => `address ${index}`);
    const first = new Dictionary(database, ADDRESSES);
    const numbers = database.transaction(() => texts.map((text) => first.numberOf(text)));
    const dictionary = new Dictionary(database, ADDRESSES);
    dictionary.load(numbers);
    expect(numbers.map((number) => dictionary.textOf(number))).toEqual(texts);
  });
});
