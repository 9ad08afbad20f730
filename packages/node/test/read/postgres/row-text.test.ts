/** Rows as one column of text. */
import { expect, test } from "vitest";
import {
  bytesOfHex,
  nullable,
  orNull,
  pageText,
  rowText,
  splitPage,
  textOfHex,
} from "../../../src/read/postgres/row-text.ts";

const ROW = rowText(["id", nullable("name"), "size"], ([id, name, size]) => ({
  id,
  name: orNull(name),
  size: Number(size),
}));

test("A row is selected as one column and read as its fields.", () => {
  expect(ROW.sql).toBe(String.raw`concat_ws(E'\x1f', id,coalesce(name, E'\x1e'),size) AS fields`);
  expect(ROW.read({ fields: "a\x1fb c\x1f7" })).toEqual({ id: "a", name: "b c", size: 7 });
});

test("An empty text is not null.", () => {
  expect(ROW.read({ fields: "\x1f\x1f0" })).toEqual({ id: "", name: "", size: 0 });
  expect(ROW.read({ fields: "a\x1f\x1e\x1f0" })).toEqual({ id: "a", name: null, size: 0 });
});

test("Bytes are hexadecimal, with any text in them.", () => {
  expect(bytesOfHex("00ff")).toEqual(Buffer.from([0, 255]));
  expect([textOfHex("411f00c3a9"), textOfHex(""), textOfHex("\x1e")]).toEqual(["A\x1f\0\u00e9", "", null]);
});

test("A field with the separator fails instead of moving the next fields.", () => {
  expect(() => ROW.read({ fields: "a\x1fb\x1fc\x1f7" })).toThrow("rows of 3 columns have 4 fields");
  expect(() => splitPage({ fields: "a\x1fb\x1fc\x1f7\x1fe\x1ff", count: 1 }, 3)).toThrow(
    "1 rows of 3 columns are 2",
  );
});

test("A page is selected as one text, and read as rows in their order.", () => {
  expect(pageText(["id", "size"], "size desc")).toBe(
    String.raw`string_agg(concat_ws(E'\x1f', id,size), E'\x1f' ORDER BY size desc) AS fields, count(*)::integer AS count`,
  );
  expect(splitPage({ fields: "a\x1f2\x1fb\x1f1", count: 2 }, 2)).toEqual([
    ["a", "2"],
    ["b", "1"],
  ]);
  expect(splitPage({ fields: null, count: 0 }, 2)).toEqual([]);
  expect(splitPage({ fields: "", count: 1 }, 1)).toEqual([[""]]);
});
