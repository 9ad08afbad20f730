/** Options of the pool. */
import { expect, test } from "vitest";
import { poolOptions, toPoolOptions } from "../../src/config/pool.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { DEFAULT_POOL_OPTIONS } from "../../src/pool/pool-options.ts";

const resolve = (flags: Record<string, unknown>, environment: Record<string, string> = {}) =>
  resolveConfig(poolOptions, { flags, environment });

test("The pool has the options of the network's files unless others are given.", () => {
  expect(toPoolOptions(resolve({}))).toEqual(DEFAULT_POOL_OPTIONS);
});

test("Variables of the old node are supported.", () => {
  const config = resolve(
    {},
    {
      CORE_MAX_TRANSACTIONS_IN_POOL: "100000",
      CORE_TRANSACTION_POOL_MAX_PER_SENDER: "7",
      CORE_TRANSACTION_POOL_MAX_PER_REQUEST: "50",
    },
  );
  expect(config.poolMaxPerRequest).toBe(50);
  expect(toPoolOptions(config)).toMatchObject({ poolSize: 100_000, poolMaxPerSender: 7 });
});

test("The pool has options for fees per byte and exempt senders.", () => {
  const key = `02${"ab".repeat(32)}`;
  const config = resolve({ poolMinFee: "5", poolAllowedSenders: key });
  expect(toPoolOptions(config)).toMatchObject({
    poolAllowedSenders: [key],
    fees: { ...DEFAULT_POOL_OPTIONS.fees, minFeePool: 5, minFeeBroadcast: 5 },
  });
  expect(() => resolve({ poolAllowedSenders: "Alice" })).toThrow('"Alice" is not one');
});
