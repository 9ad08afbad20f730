import { expect, test } from "vitest";
import type { Case, Json, NodeResponse } from "../../../test-support/parity/case.ts";
import { faultsOf } from "../../../test-support/parity/compare.ts";

const HEADERS = { "content-type": "application/json; charset=utf-8", "x-ratelimit-userlimit": "1" };

const expectation = (body: Json, members: Partial<Case> = {}): Case => ({
  name: "case",
  request: { method: "GET", path: "/", headers: {}, body: null },
  expect: { status: 200, headers: {}, body },
  volatile: [],
  defect: null,
  ...members,
});

const response = (body: Json, members: Partial<NodeResponse> = {}): NodeResponse => ({
  status: 200,
  headers: HEADERS,
  body,
  text: JSON.stringify(body),
  ...members,
});

const fits = (one: Case, given: NodeResponse) => faultsOf(one, given, "http://node")?.length === 0;

test("The comparison compares types and members, regardless of their order.", () => {
  const one = expectation({ a: "1", b: 2 });
  expect(fits(one, response({ b: 2, a: "1" }))).toBe(true);
  expect(fits(one, response({ a: 1, b: 2 }))).toBe(false);
  expect(fits(one, response({ a: "1" }))).toBe(false);
  expect(fits(one, response({ a: "1", b: 2, c: 3 }))).toBe(false);
  expect(fits(one, response({ a: "1", b: 2 }, { status: 201 }))).toBe(false);
});

test("The comparison allows chainmeta, exact totals and different error texts.", () => {
  expect(
    fits(expectation({ meta: {} }), response({ meta: { totalCountIsEstimate: false }, chainmeta: {} })),
  ).toBe(true);
  const refused = expectation(
    { message: "theirs" },
    { expect: { status: 422, headers: {}, body: { message: "a" } } },
  );
  expect(fits(refused, response({ message: "ours" }, { status: 422 }))).toBe(true);
  const unknown = expectation(
    { message: "theirs" },
    { expect: { status: 404, headers: {}, body: { message: "a" } } },
  );
  expect(fits(unknown, response({ message: "ours" }, { status: 404 }))).toBe(false);
});

test("The comparison compares the named headers only.", () => {
  const headers = {
    "content-type": HEADERS["content-type"],
    location: "{BASE}/x",
    vary: null,
    "x-ratelimit": false,
  };
  const one = expectation({}, { expect: { status: 200, headers, body: {} } });
  expect(fits(one, response({}, { headers: { ...HEADERS, location: "http://node/x" } }))).toBe(true);
  expect(fits(one, response({}, { headers: { ...HEADERS, location: "http://node/y" } }))).toBe(false);
});

test("The comparison substitutes the documented values of this node, with its digits.", () => {
  const one = expectation(
    { data: { supply: "10" } },
    {
      differs: [{ why: "D-01", path: "$.body.data.supply", value: 2 ** 53, digits: "9007199254740993" }],
    },
  );
  const body = { data: { supply: Number("9007199254740993") } };
  expect(fits(one, response(body, { text: '{"data":{"supply":9007199254740993}}' }))).toBe(true);
  expect(fits(one, response(body))).toBe(false);
  expect(fits(one, response({ data: { supply: "10" } }))).toBe(false);
});

test("The comparison does not apply to defects of the old network without another expectation.", () => {
  expect(faultsOf(expectation({}, { defect: "5" }), response({ a: 1 }), "")).toBeUndefined();
});

test("The comparison ignores volatile paths, also in rows by their members.", () => {
  const one = expectation(
    {
      data: [
        { on: true, n: 1 },
        { on: false, n: 1 },
      ],
    },
    { volatile: ["$.body.data[?on=true].n"] },
  );
  expect(
    fits(
      one,
      response({
        data: [
          { on: true, n: 9 },
          { on: false, n: 1 },
        ],
      }),
    ),
  ).toBe(true);
  expect(
    fits(
      one,
      response({
        data: [
          { on: true, n: 1 },
          { on: false, n: 9 },
        ],
      }),
    ),
  ).toBe(false);
});

test("The comparison compares lists as multisets, by their length, or by groups of a key.", () => {
  const [first, second, third] = [
    { k: 1, v: "a" },
    { k: 1, v: "b" },
    { k: 2, v: "c" },
  ];
  const data = [first, second, third];
  const other = [second, first, third];
  const cut = [first, second, { k: 2, v: "d" }];
  const by = (members: Partial<Case>, rows: Json) =>
    fits(expectation({ data }, members), response({ data: rows }));
  expect(by({}, other)).toBe(false);
  expect(by({ unordered: ["$.body.data"] }, other)).toBe(true);
  expect(by({ unordered: ["$.body.data"] }, cut)).toBe(false);
  expect(by({ sizeOnly: ["$.body.data"] }, cut)).toBe(true);
  expect(by({ sizeOnly: ["$.body.data"] }, [])).toBe(false);
  const order = { path: "$.body.data", by: "$.k" };
  expect(by({ order }, other)).toBe(true);
  expect(by({ order }, cut)).toBe(false);
  expect(by({ order: { ...order, openEnd: true } }, cut)).toBe(true);
  expect(by({ order }, [third, first, second])).toBe(false);
});
