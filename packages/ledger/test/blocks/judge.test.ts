/** Outcomes of a block (consensus.md 6.2 and 6.4), line by line. */

import { type JudgeContext, judgeBlock, RuleError, type Verdict } from "@uniknode/ledger";
import {
  type Block,
  type BlockHeader,
  delegateOfSlot,
  forgingOrder,
  present,
  type Transaction,
} from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import {
  addressOfName,
  blockOf,
  createChain,
  networkWith,
  publicKeyOf,
  sealed,
  transactionOf,
} from "../../test-support/fixtures.ts";

const pay = (members: Partial<Transaction> = {}) =>
  transactionOf("1/0", "premine", { amount: 1n, recipientId: addressOfName("bob"), ...members });
const outcome = (verdict: Verdict) =>
  verdict.kind === "Accepted" ? "Accepted" : `${verdict.kind}: ${verdict.reason}`;
const judge = (context: JudgeContext, block: Block) => outcome(judgeBlock(context, block, []));

/** Returns a block like another, except for some members of its header. */
const like = (block: Block, members: Partial<BlockHeader>): Block =>
  blockOf({ ...block.header, id: `${block.header.id.slice(1)}0`, ...members }, block.transactions);

/** Chain at height 5 with a transaction in block 2. */
function grown() {
  const chain = createChain();
  chain.append(chain.next([pay()]));
  while (chain.head().height < 5) chain.append();
  return chain;
}

/** Returns a delegate other than that of the slot. */
const other = (chain: ReturnType<typeof grown>, { header }: Block) =>
  present(
    chain.orderAt(header.height).find((publicKey) => publicKey !== header.generatorPublicKey),
    "an item of chain.orderAt",
  );

describe("a block that continues the chain", () => {
  test("A block that continues the chain is accepted and leaves its changes in the draft.", () => {
    const chain = grown();
    const context = chain.context();
    const verdict = judgeBlock(context, chain.next(), []);
    expect(verdict.kind).toBe("Accepted");
    expect(context.draft.changes().length).toBeGreaterThan(0);
  });

  test("Trap A18: a block can have its timestamp anywhere in its slot.", () => {
    const chain = grown();
    const block = chain.next();
    expect(judge(chain.context(), like(block, { timestamp: block.header.timestamp + 7 }))).toBe("Accepted");
  });

  test("Line 2: a block is rejected for its errors.", () => {
    const chain = grown();
    const faults = [{ code: "reward" as const }];
    const verdict = judgeBlock(chain.context(), chain.next(), faults);
    expect(verdict).toEqual({ kind: "Rejected", reason: "verification-failed", faults });
  });

  test("Line 3: a block is rejected for transactions of different versions.", () => {
    const chain = grown();
    const block = chain.next([pay({ nonce: 2n }), pay({ version: 1 })]);
    expect(judge(chain.context(), block)).toBe("Rejected: mixed-versions");
  });

  test("Line 4: a block is rejected for nonces that do not continue.", () => {
    const chain = grown();
    const nonces = (...list: bigint[]) =>
      judge(chain.context(), chain.next(list.map((nonce) => pay({ nonce }))));
    expect(nonces(2n, 3n)).toBe("Accepted");
    expect(nonces(1n)).toBe("Rejected: nonce-out-of-order");
    expect(nonces(3n)).toBe("Rejected: nonce-out-of-order");
    expect(nonces(2n, 2n)).toBe("Rejected: nonce-out-of-order");
    expect(nonces(3n, 2n)).toBe("Rejected: nonce-out-of-order");
  });

  test("Line 6: a block is rejected from another delegate than that of its slot.", () => {
    const chain = grown();
    const block = chain.next();
    expect(judge(chain.context(), like(block, { generatorPublicKey: other(chain, block) }))).toBe(
      "Rejected: wrong-generator",
    );
  });

  test("Line 7: a block is discarded if a transaction is stored, which version 2 nonces hide.", () => {
    const early = networkWith([{ height: 1, aip11: false }]);
    const chain = createChain(early);
    const legacy = pay({ version: 1 });
    chain.append(chain.next([legacy]));
    const verdict = judgeBlock(chain.context(), chain.next([legacy]), []);
    expect(outcome(verdict)).toBe("Discarded: transaction-stored");
  });

  test("Line 8: a block is rejected without a trace when a rule refuses it.", () => {
    const chain = grown();
    const context = chain.context();
    const verdict = judgeBlock(context, chain.next([pay({ nonce: 2n, amount: 10n ** 9n })]), []);
    expect(verdict).toMatchObject({ kind: "Rejected", reason: "refused" });
    expect(verdict).toHaveProperty("cause");
    expect((verdict as { cause: RuleError }).cause).toBeInstanceOf(RuleError);
    expect(context.draft.changes()).toEqual([]);
  });
});

describe("a listed exception", () => {
  const listed = (id: string) => ({ ...networkWith(), exceptions: { blocks: [id] } });

  test("A listed exception is accepted without further checks, and rejected if it is stored.", () => {
    const chain = grown();
    const block = chain.next();
    const network = listed(block.header.id);
    const faults = [{ code: "reward" as const }];
    expect(outcome(judgeBlock({ ...chain.context(), network }, block, faults))).toBe("Accepted");
    const context = { ...chain.context(), network, isBlockStored: () => true };
    expect(outcome(judgeBlock(context, block, faults))).toBe("Rejected: already-stored");
  });
});

describe("a block that does not continue the chain", () => {
  test("A too high block is discarded; the sixth time in a row the own chain is rolled back.", () => {
    const chain = grown();
    const context = chain.context();
    const high = like(chain.next(), { height: 9 });
    const verdicts = Array.from({ length: 7 }, () => judge(context, high));
    const discarded = "Discarded: too-high";
    expect(verdicts).toEqual([...Array(5).fill(discarded), "Rollback: too-high-again", discarded]);
    const verdict = Array.from({ length: 5 }, () => judgeBlock(context, high, [])).at(-1);
    expect(verdict).toEqual({ kind: "Rollback", reason: "too-high-again", blocks: 5000 });
  });

  test("Another too high block in between starts the count again.", () => {
    const chain = grown();
    const context = chain.context();
    const [first, second] = [like(chain.next(), { height: 9 }), like(chain.next(), { height: 8 })];
    for (let times = 0; times < 5; times++) judge(context, first);
    judge(context, second);
    for (let times = 0; times < 5; times++) expect(judge(context, first)).toBe("Discarded: too-high");
  });

  test("A block is discarded if it is below the head, or the head itself.", () => {
    const chain = grown();
    expect(judge(chain.context(), present(chain.blocks[2], "an item of chain.blocks"))).toBe(
      "Discarded: below-head",
    );
    expect(judge(chain.context(), present(chain.blocks.at(-1), "the last of chain.blocks"))).toBe(
      "Discarded: is-head",
    );
  });

  test("A block that does not continue the chain is rejected if it is older than the head.", () => {
    const chain = grown();
    const block = like(present(chain.blocks.at(-1), "the last of chain.blocks"), {
      timestamp: chain.head().timestamp - 1,
    });
    expect(judge(chain.context(), block)).toBe("Rejected: older-than-head");
  });

  test("Trap A23: a block is double forging from the right delegate, also at the next height.", () => {
    const chain = grown();
    expect(judge(chain.context(), like(present(chain.blocks.at(-1), "the last of chain.blocks"), {}))).toBe(
      "Rollback: double-forging",
    );
    const next = chain.next();
    expect(judge(chain.context(), like(next, { previousBlock: "00" }))).toBe("Rollback: double-forging");
    const sameSlot = {
      timestamp: chain.head().timestamp,
      generatorPublicKey: chain.head().generatorPublicKey,
    };
    expect(judge(chain.context(), like(next, sameSlot))).toBe("Rollback: double-forging");
  });

  test("Trap B6: a copy of a round's last block gets the verdict of the other nodes of the network.", () => {
    // The organization, last by public key, is first in the order of the round, but not in that by balances.
    const nbDelegatesByType = { individual: 0, organization: 1, network: 0 };
    const chain = createChain(networkWith([{ height: 2, nbDelegatesByType }]));
    const names = ["d0", "d1", "d2", "d3"].sort((a, b) => (publicKeyOf(a) < publicKeyOf(b) ? -1 : 1));
    const before = chain.wallet(present(names[3], "an item of names"));
    const delegate = { ...present(before.attributes.delegate, "delegate"), type: 2 };
    const after = { ...before, attributes: { delegate } };
    chain.state.commit([{ table: "wallets", key: before.address, before, after }]);
    while (chain.head().height < 5) chain.append();
    const byBalance = forgingOrder(
      2,
      [
        present(names[0], "an item of names"),
        present(names[1], "an item of names"),
        present(names[3], "an item of names"),
      ].map(publicKeyOf),
    );
    // A slot for which both orders name different delegates.
    let skipped = 0;
    const forgerOf = ({ header }: Block) => delegateOfSlot(byBalance, chain.slots.slotAt(header.timestamp));
    while (forgerOf(chain.next([], skipped)) === chain.next([], skipped).header.generatorPublicKey) skipped++;
    chain.append(chain.next([], skipped));
    expect(chain.rounds.roundAt(7).isNewRound).toBe(true);
    expect(judge(chain.context(), like(present(chain.blocks.at(-1), "the last of chain.blocks"), {}))).toBe(
      "Rejected: wrong-generator",
    );
  });

  test("A block that does not continue the chain is rejected from another delegate.", () => {
    const chain = grown();
    const block = like(present(chain.blocks.at(-1), "the last of chain.blocks"), {
      generatorPublicKey: other(chain, present(chain.blocks.at(-1), "the last of chain.blocks")),
    });
    expect(judge(chain.context(), block)).toBe("Rejected: wrong-generator");
  });

  test("A block is rejected if the round is unknown: it has no delegates.", () => {
    const chain = grown();
    const context = chain.context();
    context.draft.set("rounds", "2", undefined);
    expect(judge(context, like(chain.next(), { previousBlock: "00" }))).toBe("Rejected: wrong-generator");
    expect(judge(context, like(chain.next(), { generatorPublicKey: publicKeyOf("x") }))).toBe("Accepted");
  });
});

describe("multi signatures", () => {
  /** Alice's wallet is shared from the start; carol signs for it. */
  function shared() {
    const chain = grown();
    const wallet = chain.wallet("alice");
    const attributes = { multiSignature: { min: 1, publicKeys: [publicKeyOf("carol")] } };
    const after = { ...wallet, balance: 100n, attributes };
    chain.state.commit([{ table: "wallets", key: wallet.address, before: undefined, after }]);
    return chain;
  }

  test("An error of an unverified transaction remains without multisignature wallets.", () => {
    const chain = shared();
    const block = chain.next([pay({ nonce: 2n })]);
    const unverified = { ...block, transactions: [sealed(pay({ nonce: 2n }), false)] };
    const faults = [{ code: "unverified-transactions" as const }];
    expect(judgeBlock(chain.context(), unverified, faults)).toMatchObject({ faults });
  });

  test("An unverified transaction with signatures of a plain wallet stays unverified.", () => {
    const chain = shared();
    const transaction = sealed(pay({ nonce: 2n, signatures: ["00"] }), false);
    const block = { ...chain.next(), transactions: [transaction] };
    const faults = [
      { code: "unverified-transactions" as const },
      { code: "unverified-transaction" as const, transactionId: transaction.data.id, sequence: 0 },
    ];
    expect(judgeBlock(chain.context(), block, faults)).toMatchObject({
      reason: "verification-failed",
      faults,
    });
  });

  test("Signatures that cannot be examined are a rule's refusal.", () => {
    const chain = shared();
    const signed = { nonce: 1n, senderPublicKey: publicKeyOf("alice"), signatures: ["07".padEnd(130, "0")] };
    const block = { ...chain.next(), transactions: [sealed(pay(signed), false)] };
    expect(judgeBlock(chain.context(), block, [])).toMatchObject({
      reason: "verification-failed",
      cause: expect.any(RuleError),
    });
  });

  test("A transaction without rule in force is never verified.", () => {
    const chain = shared();
    const transaction = sealed(transactionOf("9/9", "alice", { signatures: ["00"] }), false);
    const verdict = judgeBlock(chain.context(), { ...chain.next(), transactions: [transaction] }, []);
    expect(verdict).toMatchObject({ reason: "verification-failed" });
  });
});
