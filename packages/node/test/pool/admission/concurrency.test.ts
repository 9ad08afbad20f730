/** Requests while the signatures of others are checked. */
import { describe, expect, test } from "vitest";
import {
  createTestChain,
  networkWith,
  openPool,
  RICH,
  richChain,
  richPool,
  transfer,
} from "../../../test-support/pool/chain.ts";

describe("requests at the same time", () => {
  test("are processed in the order of the calls, however long their signatures take", async () => {
    const delays = [20, 0, 10];
    const verify = (checks: readonly unknown[]) =>
      new Promise<boolean[]>((resolve) => setTimeout(() => resolve(checks.map(() => true)), delays.shift()!));
    const pool = openPool(richChain("alice"), { deps: { verify } });
    const answers = await Promise.all([1, 2, 3].map((nonce) => pool.submit([transfer("alice", nonce)])));
    expect(answers.map(({ data }) => data.accept.length)).toEqual([1, 1, 1]);
  });

  test("respect a limit that an earlier one reached", async () => {
    const pool = openPool(richChain("alice"), { options: { maxTransactionsPerSender: 1 } });
    const [first, second] = await Promise.all([
      pool.submit([transfer("alice", 1)]),
      pool.submit([transfer("alice", 2)]),
    ]);
    expect(first.data.accept.length).toBe(1);
    expect(second.data).toMatchObject({ accept: [], excess: [expect.any(String)] });
  });

  test("are checked by a milestone that a block has reached in the meantime", async () => {
    const network = networkWith([{ height: 11, vendorFieldLength: 2 }]);
    const chain = createTestChain({ alice: RICH }, network);
    const gate = Promise.withResolvers<void>();
    const verify = async (checks: readonly unknown[]) => {
      await gate.promise;
      return checks.map(() => true);
    };
    const pool = openPool(chain, { deps: { verify } });
    const answer = pool.submit([transfer("alice", 1, { vendorField: "xxx" })]);
    pool.blockApplied([], chain.append());
    gate.resolve();
    expect(Object.values((await answer).errors!)[0]).toMatchObject([{ type: "ERR_TRANSACTION_SCHEMA" }]);
  });

  test("are not affected by one that fails", async () => {
    let calls = 0;
    const verify = async (checks: readonly unknown[]) => {
      if (calls++ === 0) throw new Error("a thread has died");
      return checks.map(() => true);
    };
    const pool = openPool(richChain("alice", "bob"), { deps: { verify } });
    const failing = pool.submit([transfer("alice", 1)]);
    const next = pool.submit([transfer("bob", 1)]);
    await expect(failing).rejects.toThrow("a thread has died");
    expect((await next).data.accept.length).toBe(1);
  });

  test("are refused once the pool is closed", async () => {
    const pool = richPool("alice");
    const answer = pool.submit([transfer("alice", 1)]);
    await pool.close();
    await expect(answer).rejects.toMatchObject({ code: "POOL_CLOSED" });
  });
});
