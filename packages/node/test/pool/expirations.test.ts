/** The index of pending transactions by expiration returns what a search of all of them finds (pool.md 6). */
import type { SealedTransaction } from "@uniknode/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Expirations, expirationHeight, isExpired } from "../../src/pool/contents/pending.ts";
import { idsOf } from "../../test-support/pool/chain.ts";

const members = fc.oneof(
  fc.record({ version: fc.constant(2), expiration: fc.option(fc.integer({ min: 0, max: 30 })) }),
  fc.record({ version: fc.constant(1), timestamp: fc.integer({ min: 0, max: 240 }) }),
);
const change = fc.record({ id: fc.nat(40), isRemoved: fc.boolean(), members });

const sealed = (id: string, data: object): SealedTransaction =>
  ({ data: { id, ...data }, bytes: new Uint8Array() }) as unknown as SealedTransaction;

test("The index finds every expired transaction, the earliest first.", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 80 }), fc.integer({ min: 1, max: 40 }), (changes, height) => {
      const context = { blockTime: 8, currentHeight: height, now: height * 8, maxTransactionAge: 5 };
      const expirations = new Expirations();
      const pending = new Map<string, SealedTransaction>();
      for (const { id: number, isRemoved, members } of changes) {
        const id = String(number).padStart(2, "0");
        const known = pending.get(id);
        if (known && isRemoved) {
          expirations.remove(known);
          pending.delete(id);
        }
        if (known || isRemoved) continue;
        const transaction = sealed(id, "expiration" in members ? withoutNull(members) : members);
        expirations.add(transaction);
        pending.set(id, transaction);
      }
      const heightOf = ({ data }: SealedTransaction) => expirationHeight(data, context);
      const searched = [...pending.values()].filter((one) => isExpired(heightOf(one), height));
      const found = expirations.expired(context);
      expect(idsOf(found).toSorted()).toEqual(idsOf(searched).toSorted());
      const byVersion = Map.groupBy(found, ({ data }) => data.version);
      for (const list of byVersion.values()) {
        const heights = list.map((one) => heightOf(one) ?? 0);
        expect(heights).toEqual(heights.toSorted((a, b) => a - b));
      }
    }),
    { numRuns: 300 },
  );
});

function withoutNull({ version, expiration }: { version: number; expiration: number | null }): object {
  return { version, ...(expiration !== null && { expiration }) };
}
