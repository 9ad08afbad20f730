/** Choice of the plan that finds a page, by request and available knowledge. */
import { expect, test } from "vitest";
import {
  choosePlan,
  FAR,
  FAR_IN_INDEX,
  type ListQuery,
  MAX_LOOKED_UP,
  MAX_SORTED,
  MAX_SORTED_OF_TABLE,
  type Statistics,
} from "../../../../src/read/sqlite/lists/planner.ts";

const MIN_INDEXED_ROWS = 5_000;
const MANY = 1_000_000;

/** In order, from the first row on, by default. */
const requestFor = (
  collection: ListQuery["collection"],
  filter: ListQuery["filter"],
  others: Partial<ListQuery> = {},
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

const TABLE: [what: string, ListQuery, Partial<Statistics>, choice: string][] = [
  ["blocks after a cursor", requestFor("blocks", "heights", after), { rows: 9 }, "index scan"],
  ["blocks by a value", requestFor("blocks", "heights", byValue), { rows: 9 }, "index scan"],
  ["blocks with a value", requestFor("blocks", "values"), {}, "rows missing"],
  ["blocks with a value, counted", requestFor("blocks", "values"), { rows: 9 }, "index scan"],
  ["blocks with a value, beyond the end", requestFor("blocks", "values", at(9)), { rows: 9 }, "empty"],

  ["wallets", requestFor("wallets", "none"), {}, "rows missing"],
  ["wallets, near", requestFor("wallets", "none", at(FAR_IN_INDEX - 1)), { rows: MANY }, "index scan"],
  ["wallets, far", requestFor("wallets", "none", at(FAR_IN_INDEX)), { rows: MANY }, "offset cache"],
  ["wallets, beyond the end", requestFor("wallets", "none", at(MANY)), { rows: MANY }, "empty"],
  ["wallets after a cursor", requestFor("wallets", "none", after), { rows: 0 }, "index scan"],
  [
    "wallets without an index of the order, far",
    requestFor("wallets", "none", { ...byValue, ...at(FAR_IN_INDEX) }),
    { rows: MANY },
    "index scan",
  ],
  [
    "wallets with a value, far",
    requestFor("wallets", "values", at(FAR_IN_INDEX)),
    { rows: MANY },
    "index scan",
  ],
  ["tokens, far", requestFor("tokens", "none", at(FAR_IN_INDEX)), { rows: MANY }, "offset cache"],

  ["transactions", requestFor("transactions", "none"), {}, "rows missing"],
  ["transactions, near", requestFor("transactions", "none", at(FAR - 1)), { rows: MANY }, "index scan"],
  ["transactions, far", requestFor("transactions", "none", at(FAR)), { rows: MANY }, "row number"],
  ["transactions, beyond the end", requestFor("transactions", "none", at(MANY)), { rows: MANY }, "empty"],
  ["transactions after a cursor", requestFor("transactions", "none", after), { rows: MANY }, "index scan"],
  [
    "transactions of heights, far",
    requestFor("transactions", "heights", at(FAR)),
    { rows: MANY },
    "row number",
  ],
  [
    "transactions of heights by a value",
    requestFor("transactions", "heights", byValue),
    { rows: MANY },
    "index scan",
  ],
  [
    "transactions by a value, few",
    requestFor("transactions", "none", byValue),
    { rows: 4_999 },
    "index scan",
  ],
  [
    "transactions by a value",
    requestFor("transactions", "none", byValue),
    { rows: 5_000 },
    "hasValueIndex missing",
  ],
  [
    "transactions by a value, with a value index",
    requestFor("transactions", "none", { ...byValue, ...at(MANY - 1) }),
    { rows: MANY, hasValueIndex: true },
    "value index",
  ],
  [
    "transactions by a value, without a value index yet",
    requestFor("transactions", "none", byValue),
    { rows: MANY, hasValueIndex: false },
    "index scan",
  ],
  ["transactions of a few blocks", requestFor("transactions", "blocks"), {}, "rows missing"],
  [
    "transactions of a few blocks, far",
    requestFor("transactions", "blocks", at(FAR)),
    { rows: MANY },
    "index scan",
  ],
  [
    "transactions of a few blocks by a value",
    requestFor("transactions", "blocks", byValue),
    { rows: MANY },
    "index scan",
  ],

  ["transactions with a value", requestFor("transactions", "values"), {}, "positions missing"],
  [
    "transactions with a rare value",
    requestFor("transactions", "values"),
    { positions: MAX_SORTED },
    "position list",
  ],
  [
    "transactions with a value that is too frequent to sort",
    requestFor("transactions", "values"),
    { positions: MAX_SORTED + 1 },
    "rows missing",
  ],
  [
    "transactions with a common value",
    requestFor("transactions", "values"),
    { positions: MAX_SORTED + 1, rows: MAX_SORTED + 1 },
    "offset cache",
  ],
  [
    "transactions with a rare value by another one",
    requestFor("transactions", "values", byValue),
    { positions: MAX_LOOKED_UP },
    "position list",
  ],
  [
    "transactions with a common value by another one",
    requestFor("transactions", "values", byValue),
    { positions: MAX_LOOKED_UP + 1, rows: MANY },
    "hasValueIndex missing",
  ],
  [
    "transactions with a value of an index",
    requestFor("transactions", "values"),
    { positions: undefined },
    "rows missing",
  ],
  [
    "transactions with a value of an index, near",
    requestFor("transactions", "values", at(FAR - 1)),
    { positions: undefined, rows: MANY },
    "index scan",
  ],
  [
    "transactions with a value of an index, far",
    requestFor("transactions", "values", at(FAR)),
    { positions: undefined, rows: MANY },
    "offset cache",
  ],
  [
    "transactions with a value of an index, beyond the end",
    requestFor("transactions", "values", at(FAR)),
    { positions: undefined, rows: FAR },
    "empty",
  ],
  [
    "transactions with a value of an index by another one, with a value index",
    requestFor("transactions", "values", byValue),
    { positions: undefined, rows: MANY, hasValueIndex: true },
    "value index",
  ],

  [
    "wallets by a value, few",
    requestFor("wallets", "none", sorted),
    { rows: MAX_SORTED_OF_TABLE },
    "index scan",
  ],
  [
    "wallets by a value, many",
    requestFor("wallets", "none", sorted),
    { rows: MAX_SORTED_OF_TABLE + 1 },
    "time-boxed scan",
  ],
  [
    "blocks by a value, many",
    requestFor("blocks", "blocks", sorted),
    { rows: MAX_SORTED + 1 },
    "time-boxed scan",
  ],
  ["wallets that are tested", requestFor("wallets", "values", tested), { rows: 1 }, "time-boxed scan"],
  [
    "blocks that are tested, after a cursor",
    requestFor("blocks", "values", { ...tested, ...after }),
    { rows: 0 },
    "time-boxed scan",
  ],
  ["blocks that are tested, none", requestFor("blocks", "values", tested), { rows: 0 }, "empty"],
  [
    "transactions by a value, too few for a value index",
    requestFor("transactions", "none", sorted),
    { rows: 4_999 },
    "index scan",
  ],
  [
    "transactions by a value, many and without a value index yet",
    requestFor("transactions", "none", sorted),
    { rows: MANY, hasValueIndex: false },
    "time-boxed scan",
  ],
  [
    "transactions that are tested, near",
    requestFor("transactions", "values", tested),
    { positions: undefined, rows: MANY },
    "time-boxed scan",
  ],
];

/** Statistics of which only some are known: the choice fails if it reads another one. */
const statisticsWith = (known: Partial<Statistics>): Statistics =>
  new Proxy(
    { rows: 0, ...known },
    {
      get(target, name, receiver) {
        if (!(name in known)) throw new Error(`${String(name)} missing`);
        return Reflect.get(target, name, receiver);
      },
    },
  );

test.each(TABLE)("%s", (_what, requested, known, expected) => {
  const choose = () => choosePlan(requested, statisticsWith(known), MIN_INDEXED_ROWS);
  if (expected.endsWith(" missing")) expect(choose).toThrow(expected);
  else expect(choose()).toBe(expected);
});

test("A page beyond the last row is empty, unless positions find its rows.", () => {
  const collections = ["blocks", "transactions", "wallets", "tokens"] as const;
  const filters = ["none", "heights", "blocks", "values"] as const;
  for (const collection of collections)
    for (const filter of filters)
      for (const isInOrder of [true, false])
        for (const isAfter of [true, false])
          for (const offset of [0, FAR, FAR_IN_INDEX, MANY])
            for (const positions of [undefined, 0, MAX_SORTED, MANY] as const)
              for (const rows of [0, MIN_INDEXED_ROWS, MANY])
                for (const hasValueIndex of [true, false])
                  for (const scan of ["bounded", "sorted", "tested"] as const) {
                    const plan = choosePlan(
                      { collection, filter, isInOrder, scan, offset, isAfter },
                      { positions, rows, hasValueIndex },
                      MIN_INDEXED_ROWS,
                    );
                    expect(plan === "empty").toBe(offset >= rows && !isAfter && plan !== "position list");
                  }
});
