/** Order offered for forging, eviction, and the list behind both (pool.md 8). */
import type { SealedTransaction } from "@uniknode/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { SortedList } from "../../src/platform/sorted.ts";
import { Pending } from "../../src/pool/contents/pending.ts";

const sealed = (id: string, sender: string, nonce: number | undefined, fee: number): SealedTransaction => ({
  data: {
    id,
    version: nonce === undefined ? 1 : 2,
    network: 23,
    typeGroup: 1,
    type: 0,
    ...(nonce !== undefined && { nonce: BigInt(nonce) }),
    senderPublicKey: sender,
    fee: BigInt(fee),
    amount: 1n,
  },
  bytes: new Uint8Array(),
  isVerified: true,
});

const idsOf = (transactions: readonly SealedTransaction[]) => transactions.map(({ data }) => data.id);

test("Equal fees are ordered by arrival.", () => {
  const pending = new Pending();
  for (const id of ["b", "a", "c"]) pending.add(sealed(id, `sender of ${id}`, 1, 5));
  expect(idsOf(pending.inForgingOrder())).toEqual(["b", "a", "c"]);
});

test("A limit ends the iteration, but can be exceeded.", () => {
  const pending = new Pending();
  pending.add(sealed("dear", "x", 1, 9));
  for (const nonce of [1, 2, 3]) pending.add(sealed(`y${nonce}`, "y", nonce, nonce));
  expect(idsOf(pending.inForgingOrder(1))).toEqual(["dear"]);
  expect(idsOf(pending.inForgingOrder(2))).toEqual(["dear", "y1", "y2", "y3"]);
  expect(pending.inForgingOrder(0)).toEqual([]);
});

test("Version 1 is ordered by its fee alone.", () => {
  const pending = new Pending();
  for (const [id, fee] of [
    ["low", 1],
    ["high", 3],
    ["middle", 2],
  ] as const) {
    pending.add(sealed(id, "x", undefined, fee));
  }
  expect(idsOf(pending.inForgingOrder())).toEqual(["high", "middle", "low"]);
});

test("An empty pool evicts nothing.", () => {
  expect(new Pending().evictionCandidate()).toBeUndefined();
});

test("The latest of equal fees is evicted first, if no other transaction builds on it.", () => {
  const pending = new Pending();
  pending.add(sealed("x1", "x", 1, 1));
  pending.add(sealed("y1", "y", 1, 1));
  pending.add(sealed("y2", "y", 2, 2));
  expect(pending.evictionCandidate()?.data.id).toBe("x1");
  pending.add(sealed("x2", "x", 2, 2));
  expect(pending.evictionCandidate()?.data.id).toBe("x2");
  expect(pending.evictionCandidate("x")?.data.id).toBe("y2");
});

test("The candidate is found after a hundred cheap transactions that others build on.", () => {
  const pending = new Pending();
  for (let nonce = 1; nonce <= 120; nonce++) pending.add(sealed(`${nonce}`, "x", nonce, nonce));
  expect(pending.evictionCandidate()?.data.id).toBe("120");
});

test("Any additions and removals yield the order of a plain sort.", () => {
  const operation = fc.record({ sender: fc.nat(4), fee: fc.nat(6), isRemoval: fc.boolean(), pick: fc.nat() });
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
      const pending = new Pending();
      let model: SealedTransaction[] = [];
      for (const [index, { sender, fee, isRemoval, pick }] of operations.entries()) {
        if (isRemoval && model.length > 0) {
          const { data } = present(model[pick % model.length]);
          pending.remove(data.id);
          model = model.filter((other) => other.data.id !== data.id);
        } else {
          const nonce = model.filter(({ data }) => data.senderPublicKey === `${sender}`).length + index + 1;
          const added = sealed(`id ${index}`, `${sender}`, nonce, fee);
          pending.add(added);
          model = [...model, added];
        }
      }
      expect(pending.size()).toBe(model.length);
      expect(idsOf([...pending.all()])).toEqual(idsOf(model));
      expect(idsOf(pending.inForgingOrder())).toEqual(idsOf(plainOrder(model)));
    }),
  );
});

/** Plain implementation of pool.md 8; `transactions` in order of arrival. */
function plainOrder(transactions: readonly SealedTransaction[]): SealedTransaction[] {
  const placed: SealedTransaction[] = [];
  for (const next of transactions.toSorted((a, b) => Number(b.data.fee - a.data.fee))) {
    if (placed.includes(next)) continue;
    const lower = transactions.filter(
      (other) =>
        other.data.senderPublicKey === next.data.senderPublicKey &&
        present(other.data.nonce) < present(next.data.nonce) &&
        !placed.includes(other),
    );
    placed.push(...lower.toSorted((a, b) => Number(present(a.data.nonce) - present(b.data.nonce))), next);
  }
  return placed;
}

test("A sorted list of thousands stays sorted.", () => {
  const list = new SortedList<number>((left, right) => left < right);
  const numbers = Array.from({ length: 3_000 }, (_, index) => (index * 7_919) % 3_001);
  for (const number of numbers) list.insert(number);
  const sorted = numbers.toSorted((a, b) => a - b);
  expect([...list.values()]).toEqual(sorted);
  expect([...list.reversed()]).toEqual(sorted.toReversed());
  for (const number of numbers.slice(0, 2_990)) list.remove(number);
  expect([...list.values()]).toEqual(numbers.slice(2_990).toSorted((a, b) => a - b));
  for (const number of numbers.slice(2_990)) list.remove(number);
  expect([...list.values()]).toEqual([]);
  list.insert(1);
  expect([...list.values()]).toEqual([1]);
});
