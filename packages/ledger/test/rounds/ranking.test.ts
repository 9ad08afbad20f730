/** Ranking, selection by type, and forging order (consensus.md 3 and 4). */
import { type Delegate, rankDelegates } from "@uniknode/ledger";
import {
  delegateOfSlot,
  forgingOrder,
  type Milestone,
  present,
  sha256,
  utf8ToBytes,
} from "@uniknode/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { publicKeyOf, someDelegate, stateOf, walletNamed } from "../../test-support/fixtures.ts";

const names = ["a", "b", "c", "d", "e", "f"].sort((a, b) => (publicKeyOf(a) < publicKeyOf(b) ? -1 : 1));

/** Names by rank. Delegates are described by their members, in the order of their public keys. */
function rankingOf(milestone: Partial<Milestone>, ...delegates: Partial<Delegate>[]) {
  const actors = Object.fromEntries(
    delegates.map((members, index) => [
      present(names[index], "an item of names"),
      {
        attributes: {
          delegate: someDelegate({ username: present(names[index], "an item of names"), ...members }),
        },
      },
    ]),
  );
  const draft = stateOf(actors);
  const ranked = rankDelegates(draft, { activeDelegates: 3, ...milestone } as Milestone);
  ranked.forEach(({ publicKey }, index) => {
    const name = present(
      names.find((candidate) => publicKeyOf(candidate) === publicKey),
      "an item of names",
    );
    expect(walletNamed(draft, name).attributes.delegate?.rank).toBe(index + 1);
  });
  return { draft, order: ranked.map(({ attributes }) => names.indexOf(attributes.delegate.username)) };
}

const votes = (voteBalance: bigint, type?: number) => ({ voteBalance, ...(type && { type }) });

describe("the ranking", () => {
  test("The ranking sorts by votes, then by public key.", () => {
    expect(rankingOf({}, votes(1n), votes(5n), votes(1n), votes(-1n)).order).toEqual([1, 0, 2, 3]);
  });

  test("The ranking omits resigned delegates, and removes their rank.", () => {
    const { draft, order } = rankingOf({}, votes(1n), { resigned: true, rank: 1 }, votes(2n));
    expect(order).toEqual([2, 0]);
    expect(walletNamed(draft, present(names[1], "an item of names")).attributes.delegate).not.toHaveProperty(
      "rank",
    );
  });

  test("The ranking writes nothing if nothing changes.", () => {
    const { draft } = rankingOf({}, votes(2n), votes(1n));
    const mark = draft.mark();
    rankDelegates(draft, { activeDelegates: 3 } as Milestone);
    expect(draft.changes(mark)).toEqual([]);
  });

  test("The ranking sorts by weights if there is a cap.", () => {
    const capped = { voterMaximumWeight: { individual: 1 } };
    expect(rankingOf(capped, votes(9n, 1), votes(5n, 2)).order).toEqual([1, 0]);
    const { draft } = rankingOf({ voterMaximumWeight: false }, { ...votes(9n, 1), weightedVoteBalance: 1n });
    expect(walletNamed(draft, present(names[0], "an item of names")).attributes.delegate).not.toHaveProperty(
      "weightedVoteBalance",
    );
  });
});

describe("the selection by type", () => {
  const quotas = (individual: number, organization: number, network: number) => ({
    nbDelegatesByType: { individual, organization, network },
  });

  test("The selection by type selects each type up to its quota, then the others in their order.", () => {
    const order = rankingOf(
      quotas(1, 1, 1),
      votes(9n, 1),
      votes(8n, 1),
      votes(3n, 2),
      votes(7n),
      votes(1n, 3),
    );
    expect(order.order).toEqual([0, 2, 4, 1, 3]);
  });

  test("The selection fills the remaining positions of a type with individuals and delegates without type.", () => {
    expect(rankingOf(quotas(1, 1, 1), votes(9n, 1), votes(1n), votes(5n, 3)).order).toEqual([0, 1, 2]);
    expect(rankingOf(quotas(1, 2, 0), votes(9n, 3), votes(1n), votes(5n, 1), votes(3n, 2)).order).toEqual([
      2, 3, 1, 0,
    ]);
  });

  test("The selection by type selects no delegate beyond the quotas.", () => {
    expect(rankingOf(quotas(0, 0, 0), votes(1n, 1), votes(2n, 2)).order).toEqual([1, 0]);
  });

  test("The selection by type selects as many delegates as there are positions.", () => {
    const four = [votes(9n, 2), votes(8n, 1), votes(7n, 1), votes(6n, 1)] as const;
    expect(rankingOf({ ...quotas(3, 3, 3), activeDelegates: 1 }, ...four).order).toEqual([1, 0, 2, 3]);
  });
});

describe("the forging order", () => {
  test("Trap A4: the forging order skips every fifth index as a source.", () => {
    const ranked = Array.from({ length: 6 }, (_, index) => `${index}`);
    const expected = [...ranked];
    const exchange = (i: number, byte: number) => {
      const j = byte % 6;
      [expected[i], expected[j]] = [
        present(expected[j], "an item of expected"),
        present(expected[i], "an item of expected"),
      ];
    };
    const seed = sha256(utf8ToBytes("12"));
    for (const i of [0, 1, 2, 3]) exchange(i, present(seed[i], "an item of seed"));
    exchange(5, present(sha256(seed)[0], "an item of sha256"));
    expect(forgingOrder(12, ranked)).toEqual(expected);
  });

  test("The forging order is a permutation and does not change its input.", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 1, max: 60 }), (round, count) => {
        const ranked = Array.from({ length: count }, (_, index) => `${index}`);
        const order = forgingOrder(round, ranked);
        expect(order.toSorted((a, b) => Number(a) - Number(b))).toEqual(ranked);
        expect(delegateOfSlot(order, 3 * count + 1)).toBe(order[1 % count]);
      }),
    );
  });

  test("The forging order has no delegates if it is empty.", () => {
    expect(delegateOfSlot([], 5)).toBeUndefined();
  });
});
