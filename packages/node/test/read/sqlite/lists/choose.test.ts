/** Choice of the plan that finds a page, by request and available knowledge. */
import { expect, test } from "vitest";
import {
  type Asked,
  choosePlan,
  FAR,
  FAR_IN_INDEX,
  type Known,
  MAX_LOOKED_UP,
  MAX_SORTED,
  MAX_SORTED_OF_TABLE,
} from "../../../../src/read/sqlite/lists/choose.ts";

const MIN_INDEXED_ROWS = 5_000;
const MANY = 1_000_000;

/** In order, from the first row on, by default. */
const requestFor = (
  collection: Asked["collection"],
  filter: Asked["filter"],
  others: Partial<Asked> = {},
) => ({
  collection,
  filter,
  isInOrder: true,
  scan: "bounded" as const,
  offset: 0,
  isAfter: false,
  ...others,
});
const byValue = { isInOrder: false };
const sorted = { isInOrder: false, scan: "sorted" } as const;
const tested = { scan: "tested" } as const;
const after = { isAfter: true };
const at = (offset: number) => ({ offset });

const TABLE: [what: string, Asked, Known, choice: string][] = [
  ["blocks by height", requestFor("blocks", "heights"), {}, "row"],
  ["blocks by height, far", requestFor("blocks", "heights", at(MANY)), {}, "row"],
  ["blocks after a cursor", requestFor("blocks", "heights", after), { total: 9 }, "index"],
  ["blocks by a value", requestFor("blocks", "heights", byValue), { total: 9 }, "index"],
  ["blocks with a value", requestFor("blocks", "values"), {}, "learn total"],
  ["blocks with a value, counted", requestFor("blocks", "values"), { total: 9 }, "index"],
  ["blocks with a value, beyond the end", requestFor("blocks", "values", at(9)), { total: 9 }, "none"],

  ["wallets", requestFor("wallets", "none"), {}, "learn total"],
  ["wallets, near", requestFor("wallets", "none", at(FAR_IN_INDEX - 1)), { total: MANY }, "index"],
  ["wallets, far", requestFor("wallets", "none", at(FAR_IN_INDEX)), { total: MANY }, "count"],
  ["wallets, beyond the end", requestFor("wallets", "none", at(MANY)), { total: MANY }, "none"],
  ["wallets after a cursor", requestFor("wallets", "none", after), { total: 0 }, "index"],
  [
    "wallets without an index of the order, far",
    requestFor("wallets", "none", { ...byValue, ...at(FAR_IN_INDEX) }),
    { total: MANY },
    "index",
  ],
  ["wallets with a value, far", requestFor("wallets", "values", at(FAR_IN_INDEX)), { total: MANY }, "index"],
  ["tokens, far", requestFor("tokens", "none", at(FAR_IN_INDEX)), { total: MANY }, "count"],

  ["transactions", requestFor("transactions", "none"), {}, "learn total"],
  ["transactions, near", requestFor("transactions", "none", at(FAR - 1)), { total: MANY }, "index"],
  ["transactions, far", requestFor("transactions", "none", at(FAR)), { total: MANY }, "row"],
  ["transactions, beyond the end", requestFor("transactions", "none", at(MANY)), { total: MANY }, "none"],
  ["transactions after a cursor", requestFor("transactions", "none", after), { total: MANY }, "index"],
  ["transactions of heights, far", requestFor("transactions", "heights", at(FAR)), { total: MANY }, "row"],
  [
    "transactions of heights by a value",
    requestFor("transactions", "heights", byValue),
    { total: MANY },
    "index",
  ],
  ["transactions by a value, few", requestFor("transactions", "none", byValue), { total: 4_999 }, "index"],
  [
    "transactions by a value",
    requestFor("transactions", "none", byValue),
    { total: 5_000 },
    "learn value index",
  ],
  [
    "transactions by a value, with a value index",
    requestFor("transactions", "none", { ...byValue, ...at(MANY - 1) }),
    { total: MANY, isIndexed: true },
    "value index",
  ],
  [
    "transactions by a value, without a value index yet",
    requestFor("transactions", "none", byValue),
    { total: MANY, isIndexed: false },
    "index",
  ],
  ["transactions of a few blocks", requestFor("transactions", "blocks"), {}, "learn total"],
  [
    "transactions of a few blocks, far",
    requestFor("transactions", "blocks", at(FAR)),
    { total: MANY },
    "index",
  ],
  [
    "transactions of a few blocks by a value",
    requestFor("transactions", "blocks", byValue),
    { total: MANY },
    "index",
  ],

  ["transactions with a value", requestFor("transactions", "values"), {}, "learn matches"],
  ["transactions with a rare value", requestFor("transactions", "values"), { matches: MAX_SORTED }, "match"],
  [
    "transactions with a value that is too frequent to sort",
    requestFor("transactions", "values"),
    { matches: MAX_SORTED + 1 },
    "learn total",
  ],
  [
    "transactions with a common value",
    requestFor("transactions", "values"),
    { matches: MAX_SORTED + 1, total: MAX_SORTED + 1 },
    "count",
  ],
  [
    "transactions with a rare value by another one",
    requestFor("transactions", "values", byValue),
    { matches: MAX_LOOKED_UP },
    "match",
  ],
  [
    "transactions with a common value by another one",
    requestFor("transactions", "values", byValue),
    { matches: MAX_LOOKED_UP + 1, total: MANY },
    "learn value index",
  ],
  [
    "transactions with a value of an index",
    requestFor("transactions", "values"),
    { matches: "unknown" },
    "learn total",
  ],
  [
    "transactions with a value of an index, near",
    requestFor("transactions", "values", at(FAR - 1)),
    { matches: "unknown", total: MANY },
    "index",
  ],
  [
    "transactions with a value of an index, far",
    requestFor("transactions", "values", at(FAR)),
    { matches: "unknown", total: MANY },
    "count",
  ],
  [
    "transactions with a value of an index, beyond the end",
    requestFor("transactions", "values", at(FAR)),
    { matches: "unknown", total: FAR },
    "none",
  ],
  [
    "transactions with a value of an index by another one, with a value index",
    requestFor("transactions", "values", byValue),
    { matches: "unknown", total: MANY, isIndexed: true },
    "value index",
  ],

  ["wallets by a value, few", requestFor("wallets", "none", sorted), { total: MAX_SORTED_OF_TABLE }, "index"],
  [
    "wallets by a value, many",
    requestFor("wallets", "none", sorted),
    { total: MAX_SORTED_OF_TABLE + 1 },
    "time-boxed scan",
  ],
  [
    "blocks by a value, many",
    requestFor("blocks", "blocks", sorted),
    { total: MAX_SORTED + 1 },
    "time-boxed scan",
  ],
  ["wallets that are tested", requestFor("wallets", "values", tested), { total: 1 }, "time-boxed scan"],
  [
    "blocks that are tested, after a cursor",
    requestFor("blocks", "values", { ...tested, ...after }),
    { total: 0 },
    "time-boxed scan",
  ],
  ["blocks that are tested, none", requestFor("blocks", "values", tested), { total: 0 }, "none"],
  [
    "transactions by a value, too few for a value index",
    requestFor("transactions", "none", sorted),
    { total: 4_999 },
    "index",
  ],
  [
    "transactions by a value, many and without a value index yet",
    requestFor("transactions", "none", sorted),
    { total: MANY, isIndexed: false },
    "time-boxed scan",
  ],
  [
    "transactions that are tested, near",
    requestFor("transactions", "values", tested),
    { matches: "unknown", total: MANY },
    "time-boxed scan",
  ],
];

test.each(TABLE)("%s", (_what, requested, known, expected) => {
  const choice = choosePlan(requested, known, { minIndexedRows: MIN_INDEXED_ROWS });
  expect("plan" in choice ? choice.plan : `learn ${choice.learn}`).toBe(expected);
});

test("Every choice ends: known facts are not requested again.", () => {
  const collections = ["blocks", "transactions", "wallets", "tokens"] as const;
  const filters = ["none", "heights", "blocks", "values"] as const;
  for (const collection of collections)
    for (const filter of filters)
      for (const isInOrder of [true, false])
        for (const isAfter of [true, false])
          for (const offset of [0, FAR, FAR_IN_INDEX, MANY])
            for (const matches of ["unknown", 0, MAX_SORTED, MANY] as const)
              for (const total of [0, MIN_INDEXED_ROWS, MANY])
                for (const isIndexed of [true, false])
                  for (const scan of ["bounded", "sorted", "tested"] as const) {
                    const facts = { total: { total }, matches: { matches }, "value index": { isIndexed } };
                    let known: Known = {};
                    for (let step = 0; ; step++) {
                      expect(step).toBeLessThan(4);
                      const choice = choosePlan(
                        { collection, filter, isInOrder, scan, offset, isAfter },
                        known,
                        {
                          minIndexedRows: MIN_INDEXED_ROWS,
                        },
                      );
                      if ("plan" in choice) break;
                      known = { ...known, ...facts[choice.learn] };
                    }
                  }
});
