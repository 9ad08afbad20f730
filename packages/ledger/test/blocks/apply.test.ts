/** Blocks, rounds, and their undo (consensus.md 5, 6.3, 9 and 10). */

import { applyBlock, createDraft, type Fact } from "@uniknode/ledger";
import { present } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import {
  addressOfName,
  createChain,
  networkWith,
  publicKeyOf,
  transactionOf,
} from "../../test-support/fixtures.ts";

const pay = (sender: string, recipient: string, amount: bigint, nonce = 1n) =>
  transactionOf("1/0", sender, { nonce, amount, recipientId: addressOfName(recipient) });
const namesOf = (facts: readonly Fact[]) => facts.map(({ name }) => name);
const register = (sender: string) =>
  transactionOf("1/2", sender, { asset: { delegate: { username: sender } } });
const vote = (sender: string, target: string, nonce: bigint) =>
  transactionOf("1/3", sender, { nonce, asset: { votes: [`+${publicKeyOf(target)}`] } });

describe("the genesis block", () => {
  test("Trap A20: the genesis block leaves its sender with minus the premine, and forges no reward.", () => {
    const chain = createChain();
    expect(chain.wallet("genesis")).toMatchObject({ balance: -1_000_000n, nonce: 1n });
    expect(chain.wallet("premine").balance).toBe(1_000_000n);
    expect(chain.wallet("unknown").balance).toBe(0n);
  });

  test("The genesis block opens round 1 by public key.", () => {
    const round = present(createChain().state.get("rounds", "1"), "an entry of state");
    const keys = ["d0", "d1", "d2", "d3"].map(publicKeyOf).sort().slice(0, 3);
    expect(round.delegates.map(({ publicKey }) => publicKey)).toEqual(keys);
    expect(round.height).toBe(1);
    expect([...round.order].sort()).toEqual(keys);
  });

  test("The genesis block is a separate round with a single delegate.", () => {
    const chain = createChain(networkWith([{ height: 1, activeDelegates: 1 }]), ["only"]);
    expect(chain.state.get("rounds", "2")?.order).toEqual([publicKeyOf("only")]);
  });

  test("The genesis block needs enough delegates.", () => {
    expect(() => createChain(undefined, ["d0"])).toThrow("Expected to find 3 delegates but only found 1");
  });
});

describe("a block", () => {
  test("A block credits its generator, counts for it, and moves the votes it gave.", () => {
    const chain = createChain();
    const generator = chain.next().header.generatorPublicKey;
    const name = present(
      ["d0", "d1", "d2", "d3"].find((candidate) => publicKeyOf(candidate) === generator),
      "an item",
    );
    chain.append(chain.next([pay("premine", name, 100n)]));
    expect(chain.wallet(name)).toMatchObject({
      balance: 103n,
      attributes: { delegate: { forgedFees: 1n, forgedRewards: 2n, producedBlocks: 1 } },
    });
    expect(chain.wallet(name).attributes.delegate?.lastBlock).toEqual({
      id: chain.head().id,
      height: 2,
      timestamp: chain.head().timestamp,
    });
    // Two rounds later at the latest, it forges again, now with a vote for itself.
    chain.append(chain.next([vote(name, name, 2n)]));
    while (chain.head().generatorPublicKey !== generator || chain.head().height === 3) chain.append();
    const { balance, attributes } = chain.wallet(name);
    expect(attributes.delegate?.voteBalance).toBe(balance);
  });

  test("Trap B1: a block leaves no trace when its second transaction is refused.", () => {
    const chain = createChain();
    const draft = createDraft(chain.state);
    const block = chain.next([pay("premine", "bob", 5n), pay("bob", "carol", 6n)]);
    const { network, rounds, slots } = chain;
    expect(() => applyBlock({ network, rounds, slots, head: chain.head() }, draft, block)).toThrow(
      "Insufficient balance in the wallet.",
    );
    expect(draft.changes()).toEqual([]);
  });

  test("Trap B12: a block leaves no trace when the next round cannot be set up.", () => {
    const chain = createChain(networkWith([{ height: 4, activeDelegates: 5 }]));
    chain.append();
    const draft = createDraft(chain.state);
    const { network, rounds, slots } = chain;
    expect(() => applyBlock({ network, rounds, slots, head: chain.head() }, draft, chain.next())).toThrow(
      "Expected to find 5 delegates but only found 4",
    );
    expect(draft.changes()).toEqual([]);
  });

  test("A block can spend the amounts that it received.", () => {
    const chain = createChain();
    chain.append(chain.next([pay("premine", "bob", 50n), pay("bob", "carol", 49n)]));
    expect(chain.wallet("carol").balance).toBe(49n);
  });
});

describe("facts", () => {
  test("Facts are in the order of the network's events.", () => {
    const chain = createChain();
    chain.append();
    const facts = chain.append(chain.next([pay("premine", "bob", 5n), vote("premine", "d0", 2n)], 1));
    expect(namesOf(facts.filter(({ name }) => name !== "wallet.saved"))).toEqual([
      "forger.missing",
      "round.missed",
      "round.created",
      "round.applied",
      "transaction.applied",
      "transaction.applied",
      "wallet.vote",
      "wallet.created.cold",
      "block.applied",
    ]);
  });

  test("Facts name every changed wallet once, by ascending address.", () => {
    const chain = createChain();
    const facts = chain.append(chain.next([pay("premine", "bob", 5n), pay("premine", "bob", 5n, 2n)]));
    const saved = facts.flatMap((fact) => (fact.name === "wallet.saved" ? [fact.wallet] : []));
    const addresses = saved.map(({ address }) => address);
    expect(addresses).toEqual([...new Set(addresses)].sort());
    expect(addresses).toContain(addressOfName("bob"));
    expect(saved.find(({ address }) => address === addressOfName("bob"))?.balance).toBe(10n);
  });

  test("Facts contain a wallet as cold once.", () => {
    const chain = createChain();
    const isCold = (facts: readonly Fact[]) => namesOf(facts).includes("wallet.created.cold");
    expect(isCold(chain.append(chain.next([pay("premine", "bob", 5n)])))).toBe(true);
    expect(isCold(chain.append(chain.next([pay("premine", "bob", 5n, 2n)])))).toBe(false);
    expect(isCold(chain.append(chain.next([pay("bob", "d0", 5n)])))).toBe(false);
  });

  test("A wallet that spends in the block that created it was created cold.", () => {
    const chain = createChain();
    const facts = chain.append(chain.next([pay("premine", "bob", 10n), pay("bob", "d0", 5n)]));
    const created = facts.flatMap((fact) =>
      fact.name === "wallet.created.cold" ? [fact.wallet.address] : [],
    );
    expect(created).toEqual([addressOfName("bob")]);
  });

  test("Facts name the delegates of missed slots, at most a round of them, never after the genesis block.", () => {
    const chain = createChain();
    expect(namesOf(chain.append(chain.next([], 5)))).not.toContain("forger.missing");
    const first = chain.slots.slotAt(chain.head().timestamp) + 1;
    const order = chain.orderAt(3);
    const facts = chain.append(chain.next([], 7));
    const missed = facts.flatMap((fact) => (fact.name === "forger.missing" ? [fact] : []));
    expect(missed.map(({ slot }) => slot)).toEqual([first, first + 1, first + 2]);
    expect(missed.map(({ delegate }) => delegate.publicKey)).toEqual(
      [0, 1, 2].map((index) => order[(first + index) % 3]),
    );
  });

  test("Facts name the delegates that forged nothing in the round that ends.", () => {
    const chain = createChain();
    const order = chain.orderAt(1);
    chain.append(chain.next([], order.length - 1));
    const facts = chain.append(chain.next([], order.length - 1));
    const forged = new Set(chain.blocks.map(({ header }) => header.generatorPublicKey));
    const missed = facts.flatMap((fact) => (fact.name === "round.missed" ? [fact.delegate.publicKey] : []));
    expect(missed).toEqual(
      present(chain.state.get("rounds", "1"), "an entry of chain.state")
        .delegates.map(({ publicKey }) => publicKey)
        .filter((publicKey) => !forged.has(publicKey)),
    );
    expect(missed.length).toBe(2);
  });

  test("Facts include registrations and resignations.", () => {
    const chain = createChain();
    chain.append(chain.next([pay("premine", "bob", 100n)]));
    expect(namesOf(chain.append(chain.next([register("bob")])))).toContain("delegate.registered");
    const resign = transactionOf("1/7", "bob", { nonce: 2n });
    expect(namesOf(chain.append(chain.next([resign])))).toContain("delegate.resigned");
  });
});

describe("rounds", () => {
  test("Trap A2: quotas of a round are those of two heights below it, their number is that of its first height.", () => {
    const nbDelegatesByType = { individual: 0, organization: 1, network: 0 };
    const firstOfRound2 = (height: number) => {
      const chain = createChain(
        networkWith([
          { height, nbDelegatesByType },
          { height: 4, activeDelegates: 4 },
        ]),
      );
      // The delegate that is last by public key is an organization.
      const last = present(
        ["d0", "d1", "d2", "d3"].sort((a, b) => (publicKeyOf(a) < publicKeyOf(b) ? 1 : -1))[0],
        "an item of sort",
      );
      const before = chain.wallet(last);
      const delegate = { ...present(before.attributes.delegate, "delegate"), type: 2 };
      const after = { ...before, attributes: { delegate } };
      chain.state.commit([{ table: "wallets", key: before.address, before, after }]);
      chain.append();
      chain.append();
      const { delegates } = present(chain.state.get("rounds", "2"), "an entry of chain.state");
      expect(delegates.length).toBe(4);
      return present(delegates[0], "an item of delegates").publicKey === publicKeyOf(last);
    };
    expect(firstOfRound2(2)).toBe(true);
    expect(firstOfRound2(3)).toBe(false);
  });

  test("Rounds stay readable permanently: the API returns every one of them.", () => {
    const chain = createChain();
    while (chain.head().height < 17) chain.append();
    const kept = chain.state.entries("rounds").map(([round]) => Number(round));
    const current = chain.rounds.roundAt(17).round;
    expect(kept).toEqual(Array.from({ length: current }, (_, index) => index + 1));
    chain.append();
    expect(chain.state.get("rounds", String(current + 1))).toBeDefined();
  });

  test("A resigned delegate leaves the ranking at the next round.", () => {
    const chain = createChain(undefined, ["d0", "d1", "d2", "d3", "d4"]);
    chain.append(chain.next([pay("premine", "d0", 100n)]));
    expect(chain.wallet("d0").attributes.delegate?.rank).toBeDefined();
    chain.append(chain.next([transactionOf("1/7", "d0", { nonce: 2n })]));
    expect(chain.wallet("d0").attributes.delegate).not.toHaveProperty("rank");
    expect(chain.orderAt(4)).not.toContain(publicKeyOf("d0"));
  });
});

describe("undo", () => {
  test("Undo restores every earlier state byte for byte, including round changes.", () => {
    const chain = createChain();
    let nonce = 1n;
    chain.append(chain.next([pay("premine", "alice", 1000n, nonce++)]));
    chain.append(chain.next([register("alice"), vote("premine", "alice", nonce++)]));
    while (chain.head().height < 20) {
      chain.append(
        chain.next([pay("premine", `w${chain.head().height % 5}`, 7n, nonce++)], chain.head().height % 3),
      );
    }
    while (chain.head().height > 1) {
      chain.revert();
      expect(chain.image()).toBe(chain.imageAt(chain.head().height));
    }
  });

  test("Another branch can be applied after undo.", () => {
    const chain = createChain();
    chain.append(chain.next([pay("premine", "bob", 100n)]));
    chain.append(chain.next([register("bob")]));
    chain.revert();
    chain.append(chain.next([register("bob")], 2));
    expect(chain.wallet("bob").attributes.delegate?.username).toBe("bob");
  });
});
