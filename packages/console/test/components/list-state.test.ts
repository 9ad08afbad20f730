import { expect, test } from "vitest";
import { hrefAfter, orderFrom, pageOf } from "../../src/components/list-state.ts";

test("Another filter starts at the first page, and keeps the other filters.", () => {
  expect(hrefAfter("/console/blocks?page=3&content=transactions", { orderBy: "height:asc" })).toBe(
    "/console/blocks?content=transactions&orderBy=height%3Aasc",
  );
});

test("An empty filter is ignored, and the first page has no name.", () => {
  expect(hrefAfter("/console/blocks?content=transactions", { content: "" })).toBe("/console/blocks");
  expect(hrefAfter("/console/blocks?page=2", { page: "1" })).toBe("/console/blocks");
});

test.each([
  [undefined, 1],
  ["7", 7],
  ["0", 1],
  ["-3", 1],
  ["1e9", 1],
  ["99999999999", 1],
])("The page %s of an address is page %s.", (text, page) => {
  expect(pageOf(text)).toBe(page);
});

test("A list has the order of its URL only if it offers it.", () => {
  const orders = [{ value: "" }, { value: "height:asc" }] as const;
  expect(orderFrom(orders, "height:asc")).toEqual({ orderBy: "height:asc" });
  for (const other of [undefined, "", "height:desc"]) expect(orderFrom(orders, other)).toEqual({});
});
