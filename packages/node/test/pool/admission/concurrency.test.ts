/** Requests while the signatures of others are checked. */
import { setImmediate as nextTick } from "node:timers/promises";
import { builders, multiSignTransaction, transactionId } from "@uniknode/protocol";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { present } from "../../../src/platform/present.ts";
import type { PoolStore } from "../../../src/store/node/pool.ts";
import {
  addressNamed,
  createTestChain,
  envelope,
  jsonOf,
  keysOf,
  networkWith,
  openPool,
  publicKeyOf,
  RICH,
  refusalOf,
  richChain,
  richPool,
  signedBy,
  transfer,
} from "../../../test-support/pool/chain.ts";

describe("requests at the same time", () => {
  test("Requests at the same time are processed in the order of the calls, however long their signatures take.", async () => {
    const delays = [20, 0, 10];
    const verify = (checks: readonly unknown[]) =>
      new Promise<boolean[]>((resolve) =>
        setTimeout(() => resolve(checks.map(() => true)), present(delays.shift())),
      );
    const pool = openPool(richChain("alice"), { deps: { verify } });
    const results = await Promise.all([1, 2, 3].map((nonce) => pool.submit([transfer("alice", nonce)])));
    expect(results.map(({ data }) => data.accept.length)).toEqual([1, 1, 1]);
  });

  test("Requests at the same time respect a limit that an earlier one reached.", async () => {
    const pool = openPool(richChain("alice"), { options: { poolMaxPerSender: 1 } });
    const [first, second] = await Promise.all([
      pool.submit([transfer("alice", 1)]),
      pool.submit([transfer("alice", 2)]),
    ]);
    expect(first.data.accept.length).toBe(1);
    expect(second.data).toMatchObject({ accept: [], excess: [expect.any(String)] });
  });

  test("Requests at the same time are checked by a milestone that a block has reached in the meantime.", async () => {
    const network = networkWith([{ height: 11, vendorFieldLength: 2 }]);
    const chain = createTestChain({ alice: RICH }, network);
    const gate = Promise.withResolvers<void>();
    const verify = async (checks: readonly unknown[]) => {
      await gate.promise;
      return checks.map(() => true);
    };
    const pool = openPool(chain, { deps: { verify } });
    const result = pool.submit([transfer("alice", 1, { vendorField: "xxx" })]);
    pool.blockApplied([], chain.append());
    gate.resolve();
    expect(Object.values(present((await result).errors))[0]).toMatchObject([
      { type: "ERR_TRANSACTION_SCHEMA" },
    ]);
  });

  test("Requests at the same time are not affected by one that fails.", async () => {
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

  test("A request can be sent again after a failure of the verifier, which decides nothing.", async () => {
    let calls = 0;
    const verify = async (checks: readonly unknown[]) => {
      if (calls++ === 0) throw new Error("a thread has died");
      return checks.map(() => true);
    };
    const pool = openPool(richChain("alice"), { deps: { verify } });
    const transaction = transfer("alice", 1);
    await expect(pool.submit([transaction])).rejects.toThrow("a thread has died");
    expect((await pool.submit([transaction])).data.accept).toEqual([transaction.id]);
  });

  test("A request can be sent again after a failure of the database while its transactions are parsed.", async () => {
    const multiSignature = { min: 1, publicKeys: [publicKeyOf("p0")] };
    const chain = createTestChain({ shared: { ...RICH, nonce: 1n, attributes: { multiSignature } } });
    let fails = false;
    const storedIds = (ids: readonly string[]) => {
      if (fails) throw new Error("disk I/O error");
      return new Set(ids);
    };
    const pool = openPool(chain, { deps: { storedIds } });
    const body = builders.transfer({ ...envelope("shared", 1), recipientId: addressNamed("x"), amount: 1n });
    const signed = multiSignTransaction(body, 0, keysOf("p0"));
    const transaction = jsonOf({ ...signed, id: transactionId(signed) });
    fails = true;
    await expect(pool.submit([transaction])).rejects.toThrow("disk I/O error");
    fails = false;
    expect(await refusalOf(pool, transaction)).toMatch(/^ERR_FORGED/);
  });

  test("Requests are not delayed by one of another sender whose signatures get no verdict, which fails after 5 s.", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const hung = new Promise<boolean[]>(() => {});
    let calls = 0;
    const verify = (checks: readonly unknown[]) =>
      calls++ === 0 ? hung : Promise.resolve(checks.map(() => true));
    const pool = openPool(richChain("alice", "bob"), { deps: { verify } });
    const failing = pool.submit([transfer("alice", 1)]);
    const failure = expect(failing).rejects.toMatchObject({ code: "CALL_TIMEOUT", isRetryable: true });
    expect((await pool.submit([transfer("bob", 1)])).data.accept.length).toBe(1);
    // A later one of the same sender waits for it.
    const next = pool.submit([transfer("alice", 2)]);
    expect(pool.size()).toBe(1);
    await vi.advanceTimersByTimeAsync(5_000);
    await failure;
    expect((await next).errors).toMatchObject({ [transfer("alice", 2).id]: [{ type: "ERR_APPLY" }] });
    expect(pool.figures().poolWaiting).toBe(0);
  });

  test("Requests at the same time yield to other work in the middle of a request.", async () => {
    const pool = openPool(richChain("alice"));
    const payments = Array.from({ length: 128 }, (_, index) => ({
      amount: 1n,
      recipientId: addressNamed(`recipient ${index}`),
    }));
    const many = Array.from({ length: 40 }, (_, index) =>
      signedBy("alice", builders.multiPayment({ ...envelope("alice", index + 1, 10n ** 9n), payments })),
    );
    let ticks = 0;
    const count = () => {
      ticks++;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    const { data } = await pool.submit(many);
    clearImmediate(timer);
    expect(data.accept.length).toBe(40);
    // About 100 ms of work in slices of 10 ms.
    expect(ticks).toBeGreaterThan(3);
  });

  test("Requests at the same time are refused once the pool is closed.", async () => {
    const pool = richPool("alice");
    const result = pool.submit([transfer("alice", 1)]);
    await pool.close();
    await expect(result).rejects.toMatchObject({ code: "POOL_CLOSED" });
  });

  test("A request whose transactions are being added when the pool is closed is refused, and the others are not written.", async () => {
    const writes: unknown[] = [];
    const store: PoolStore = {
      load: () => [],
      write: ({ added }) => void writes.push(added.map(({ id }) => id)),
    };
    let isClosing = false;
    const storedIds = () => {
      // Before the second step.
      if (isClosing) queueMicrotask(() => void pool.close());
      return new Set<string>();
    };
    const pool = openPool(richChain("alice"), { deps: { store, storedIds } });
    await pool.submit([transfer("alice", 1)]);
    isClosing = true;
    const result = pool.submit([transfer("alice", 2), transfer("alice", 3)]);
    await expect(result).rejects.toMatchObject({ code: "POOL_CLOSED" });
    await nextTick();
    expect(writes).toEqual([[transfer("alice", 1).id], [transfer("alice", 2).id]]);
  });
});
