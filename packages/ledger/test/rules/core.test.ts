/** Checks and effects of the core types, in the order of transactions-rules.md 3. */
import type { Lock, ShownAttributes } from "@uniknode/ledger";
import { bytesToHex, hexToBytes, present, sha256 } from "@uniknode/protocol";
import { describe, expect, test, vi } from "vitest";
import {
  addressOfName,
  apply,
  networkWith,
  publicKeyOf,
  refusalOf,
  someDelegate,
  stateOf,
  transactionOf,
  walletNamed,
} from "../../test-support/fixtures.ts";

const rich = { balance: 1000n };
const multiSignature: ShownAttributes = { multiSignature: { min: 1, publicKeys: [publicKeyOf("alice")] } };

describe("transfer", () => {
  test("A transfer moves the amount and subtracts the fee.", () => {
    const draft = stateOf({ alice: rich });
    apply(draft, transactionOf("1/0", "alice", { amount: 100n, recipientId: addressOfName("bob") }));
    expect(walletNamed(draft, "alice")).toMatchObject({ balance: 899n, nonce: 1n });
    expect(draft.get("wallets", addressOfName("bob"))).toEqual({
      address: addressOfName("bob"),
      balance: 100n,
      nonce: 0n,
      attributes: {},
    });
  });

  test("A transfer to oneself costs the fee.", () => {
    const draft = stateOf({ alice: rich });
    apply(draft, transactionOf("1/0", "alice", { amount: 999n, recipientId: addressOfName("alice") }));
    expect(walletNamed(draft, "alice").balance).toBe(999n);
  });
});

describe("second signature", () => {
  const register = () =>
    transactionOf("1/1", "alice", { asset: { signature: { publicKey: publicKeyOf("second") } } });

  test("A second signature sets the key.", () => {
    const draft = stateOf({ alice: rich });
    apply(draft, register());
    expect(walletNamed(draft, "alice").attributes).toEqual({ secondPublicKey: publicKeyOf("second") });
  });

  test("A second signature refuses a second key and a multi signature wallet, before the generic checks.", () => {
    const enabled = stateOf({ alice: { attributes: { secondPublicKey: "00" } } });
    expect(refusalOf(enabled, register())).toBe("SecondSignatureAlreadyRegisteredError");
    const shared = stateOf({ alice: { attributes: multiSignature } });
    expect(refusalOf(shared, register())).toBe("NotSupportedForMultiSignatureWalletError");
    expect(refusalOf(stateOf({ alice: {} }), register())).toBe("InsufficientBalanceError");
  });
});

describe("delegate registration", () => {
  const register = (username = "satoshi") =>
    transactionOf("1/2", "alice", { asset: { delegate: { username } } });

  test("A delegate registration creates a delegate without type, and reserves the name.", () => {
    const draft = stateOf({ alice: rich });
    apply(draft, register());
    expect(walletNamed(draft, "alice").attributes.delegate).toEqual(someDelegate({ username: "satoshi" }));
    expect(draft.get("usernames", "satoshi")).toBe(addressOfName("alice"));
  });

  test("A delegate registration refuses in the order of its section.", () => {
    const shared = stateOf({ alice: { attributes: multiSignature } });
    expect(refusalOf(shared, register(""))).toBe("NotSupportedForMultiSignatureWalletError");
    expect(refusalOf(stateOf({ alice: rich }), register(""))).toBe("WalletNotADelegateError");
    const taken = { bob: { attributes: { delegate: someDelegate({ username: "satoshi" }) } } };
    expect(refusalOf(stateOf({ ...taken, alice: rich }), register())).toBe(
      "WalletUsernameAlreadyRegisteredError",
    );
    const both = stateOf({ ...taken, alice: { attributes: { delegate: someDelegate() } } });
    expect(refusalOf(both, register())).toBe("WalletIsAlreadyDelegateError");
  });

  test.each(["constructor", "__proto__"])("Trap A28: the username %s counts as registered.", (username) => {
    expect(refusalOf(stateOf({ alice: rich }), register(username))).toBe(
      "WalletUsernameAlreadyRegisteredError",
    );
  });

  test("Trap A14: a resigned delegate is still a delegate, and its name stays reserved.", () => {
    const delegate = someDelegate({ username: "satoshi", resigned: true });
    const draft = stateOf({ alice: rich, bob: { balance: 10n, attributes: { delegate } } });
    expect(refusalOf(draft, register())).toBe("WalletUsernameAlreadyRegisteredError");
    const again = transactionOf("1/2", "bob", { asset: { delegate: { username: "other" } } });
    expect(refusalOf(draft, again)).toBe("WalletIsAlreadyDelegateError");
  });

  test("The delegate registration can be disabled.", () => {
    const off = networkWith([], { transactionsConfig: { delegateRegistration: { enable: false } } });
    expect(refusalOf(stateOf({ alice: rich }), register(), { network: off })).toBe(
      "DeactivatedTransactionHandlerError",
    );
  });
});

describe("vote", () => {
  const vote = (sign: string, target = "bob", members = {}) =>
    transactionOf("1/3", "alice", { asset: { votes: [`${sign}${publicKeyOf(target)}`] }, ...members });
  const bob = { attributes: { delegate: someDelegate() } };

  test("A vote is set and removed.", () => {
    const draft = stateOf({ alice: rich, bob });
    apply(draft, vote("+"));
    expect(walletNamed(draft, "alice").attributes).toEqual({ vote: publicKeyOf("bob") });
    apply(draft, vote("-", "bob", { nonce: 2n }));
    expect(walletNamed(draft, "alice").attributes).toEqual({});
  });

  test("A vote refuses in the order of its section.", () => {
    const voter = { ...rich, attributes: { vote: publicKeyOf("carol") } };
    const resigned = { attributes: { delegate: someDelegate({ resigned: true }) } };
    expect(refusalOf(stateOf({ alice: voter, bob: resigned }), vote("+"))).toBe("AlreadyVotedError");
    expect(refusalOf(stateOf({ alice: rich }), vote("-"))).toBe("NoVoteError");
    expect(refusalOf(stateOf({ alice: voter, bob }), vote("-"))).toBe("UnvoteMismatchError");
    expect(refusalOf(stateOf({ alice: rich }), vote("+"))).toBe("VotedForNonDelegateError");
    expect(refusalOf(stateOf({ alice: {}, bob }), vote("+"))).toBe("InsufficientBalanceError");
  });

  test("Trap A16: a resigned delegate can be unvoted but not voted.", () => {
    const resigned = { attributes: { delegate: someDelegate({ resigned: true }) } };
    expect(refusalOf(stateOf({ alice: rich, bob: resigned }), vote("+"))).toBe(
      "VotedForResignedDelegateError",
    );
    const voter = { ...rich, attributes: { vote: publicKeyOf("bob") } };
    expect(refusalOf(stateOf({ alice: voter, bob: resigned }), vote("-"))).toBe("");
  });

  test("The vote ends with the legacy vote.", () => {
    const ended = networkWith([{ height: 5, disableArkLegacyVote: true }]);
    const draft = stateOf({ alice: rich, bob });
    const at = (height: number) => ({ network: ended, head: { height, timestamp: 0 } });
    expect(refusalOf(draft, vote("+"), at(5))).toBe("DeactivatedTransactionHandlerError");
    // Trap A1: the block of the milestone itself follows the rules of the head below it.
    expect(refusalOf(draft, vote("+"), at(4))).toBe("");
  });
});

describe("ipfs", () => {
  const register = (sender: string, nonce = 1n) =>
    transactionOf("1/5", sender, { nonce, asset: { ipfs: "Qm1" } });

  test("An ipfs transaction reserves the hash for the complete chain.", () => {
    const draft = stateOf({ alice: rich, bob: rich });
    apply(draft, register("alice"));
    expect(walletNamed(draft, "alice").attributes).toEqual({ ipfs: { hashes: { Qm1: true } } });
    expect(refusalOf(draft, register("alice", 2n))).toBe("IpfsHashAlreadyExists");
    expect(refusalOf(draft, register("bob"))).toBe("IpfsHashAlreadyExists");
  });

  test("Trap B3: after a rollback an ipfs hash can be registered again.", () => {
    const draft = stateOf({ alice: rich });
    const mark = draft.mark();
    apply(draft, register("alice"));
    draft.rollback(mark);
    expect(refusalOf(draft, register("alice"))).toBe("");
  });
});

describe("multi payment", () => {
  const pay = (amounts: Record<string, bigint>, members = {}) =>
    transactionOf("1/6", "alice", {
      asset: {
        payments: Object.entries(amounts).map(([name, amount]) => ({
          recipientId: addressOfName(name),
          amount,
        })),
      },
      ...members,
    });

  test("A multi payment pays all recipients, including the sender.", () => {
    const draft = stateOf({ alice: rich });
    apply(draft, pay({ bob: 100n, alice: 50n, carol: 849n }));
    expect(walletNamed(draft, "alice").balance).toBe(50n);
    expect(draft.get("wallets", addressOfName("bob"))?.balance).toBe(100n);
    expect(draft.get("wallets", addressOfName("carol"))?.balance).toBe(849n);
  });

  test("A multi payment checks the balance before the nonce.", () => {
    expect(refusalOf(stateOf({ alice: rich }), pay({ bob: 1000n }, { nonce: 9n }))).toBe(
      "InsufficientBalanceError",
    );
    expect(refusalOf(stateOf({ alice: rich }), pay({ bob: 999n }, { nonce: 9n }))).toBe(
      "UnexpectedNonceError",
    );
  });
});

describe("delegate resignation", () => {
  const resign = () => transactionOf("1/7", "alice");
  const delegates = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `delegate ${index}`,
        { attributes: { delegate: someDelegate({ username: `d${index}` }) } },
      ]),
    );
  const alice = { ...rich, attributes: { delegate: someDelegate({ username: "alice" }) } };

  test("A resignation needs one delegate more than positions, and counts resignations in the same block.", () => {
    const draft = stateOf({ ...delegates(3), alice });
    expect(refusalOf(draft, resign())).toBe("");
    expect(walletNamed(draft, "alice").attributes.delegate?.resigned).toBe(true);
    expect(refusalOf(stateOf({ ...delegates(2), alice }), resign())).toBe("NotEnoughDelegatesError");
    const other = transactionOf("1/7", "delegate 0");
    expect(refusalOf(draft, other)).toBe("NotEnoughDelegatesError");
  });

  test("A resignation reads no more delegates than it must, however many are registered.", () => {
    const draft = stateOf({ ...delegates(1_000), alice });
    const reads = vi.spyOn(draft, "get");
    expect(refusalOf(draft, resign())).toBe("");
    expect(reads.mock.calls.length).toBeLessThan(20);
  });

  test("A resignation refuses wallets that are not delegates, and resigned ones.", () => {
    expect(refusalOf(stateOf({ alice: rich }), resign())).toBe("WalletNotADelegateError");
    const resigned = { attributes: { delegate: someDelegate({ resigned: true }) } };
    expect(refusalOf(stateOf({ alice: resigned }), resign())).toBe("WalletAlreadyResignedError");
  });
});

describe("hash-time-locked amounts", () => {
  const secret = "ab".repeat(32);
  const secretHash = bytesToHex(sha256(hexToBytes(secret)));
  const lock = (value: number, type = 2, members = {}) =>
    transactionOf("1/8", "alice", {
      amount: 100n,
      recipientId: addressOfName("bob"),
      asset: { lock: { secretHash, expiration: { type, value } } },
      ...members,
    });
  const claim = (lockTransactionId: string, unlockSecret = secret, sender = "carol") =>
    transactionOf("1/9", sender, { fee: 0n, asset: { claim: { lockTransactionId, unlockSecret } } });
  const refund = (lockTransactionId: string) =>
    transactionOf("1/10", "carol", { fee: 0n, asset: { refund: { lockTransactionId } } });
  const actors = { alice: rich, carol: {} };

  test("A lock reduces the balance and is stored in the wallet.", () => {
    const draft = stateOf(actors);
    const transaction = lock(99);
    apply(draft, transaction, { blockTimestamp: 88 });
    const expected: Lock = {
      amount: 100n,
      recipientId: addressOfName("bob"),
      timestamp: 88,
      secretHash,
      expiration: { type: 2, value: 99 },
    };
    expect(walletNamed(draft, "alice")).toMatchObject({
      balance: 899n,
      attributes: { htlc: { locks: { [transaction.id]: expected }, lockedBalance: 100n } },
    });
    expect(draft.get("locks", transaction.id)).toBe(addressOfName("alice"));
  });

  test("A lock must outlive a round.", () => {
    // At the head of height 10 and time 80, with 3 delegates and 8 seconds.
    expect(refusalOf(stateOf(actors), lock(13))).toBe("HtlcLockExpiredError");
    expect(refusalOf(stateOf(actors), lock(14))).toBe("");
    expect(refusalOf(stateOf(actors), lock(104, 1))).toBe("HtlcLockExpiredError");
    expect(refusalOf(stateOf(actors), lock(105, 1))).toBe("");
  });

  test("Trap A6c: any wallet can claim for the recipient, while the votes follow the sender of the claim.", () => {
    const draft = stateOf({
      alice: { ...rich, attributes: { vote: publicKeyOf("x") } },
      carol: { attributes: { vote: publicKeyOf("y") } },
      x: { attributes: { delegate: someDelegate({ username: "x", voteBalance: 1000n }) } },
      y: { attributes: { delegate: someDelegate({ username: "y" }) } },
    });
    const transaction = lock(99);
    apply(draft, transaction);
    apply(draft, claim(transaction.id));
    expect(draft.get("wallets", addressOfName("bob"))?.balance).toBe(100n);
    expect(walletNamed(draft, "alice").attributes.htlc).toEqual({ locks: {}, lockedBalance: 0n });
    expect(draft.get("locks", transaction.id)).toBeUndefined();
    expect(walletNamed(draft, "x").attributes.delegate?.voteBalance).toBe(899n);
    expect(walletNamed(draft, "y").attributes.delegate?.voteBalance).toBe(100n);
  });

  test("A claim needs an open lock, in time, and the secret.", () => {
    const draft = stateOf(actors);
    const transaction = lock(99);
    apply(draft, transaction);
    const at = (height: number) => ({ head: { height, timestamp: 0 } });
    expect(refusalOf(draft, claim("00".repeat(32)))).toBe("HtlcLockTransactionNotFoundError");
    expect(refusalOf(draft, claim(transaction.id), at(99))).toBe("HtlcLockExpiredError");
    expect(refusalOf(draft, claim(transaction.id, "cd".repeat(32)))).toBe("HtlcSecretHashMismatchError");
    expect(refusalOf(draft, claim(transaction.id), at(98))).toBe("");
    expect(refusalOf(draft, claim(transaction.id, secret, "dave"), at(98))).toBe(
      "HtlcLockTransactionNotFoundError",
    );
  });

  test("A refund requires the end of the lock, and does not affect other locks.", () => {
    const draft = stateOf(actors);
    const [first, second] = [lock(99), lock(200, 1, { nonce: 2n })];
    apply(draft, first);
    apply(draft, second);
    expect(refusalOf(draft, refund(first.id), { head: { height: 98, timestamp: 0 } })).toBe(
      "HtlcLockNotExpiredError",
    );
    apply(draft, refund(first.id), { head: { height: 99, timestamp: 0 } });
    const alice = walletNamed(draft, "alice");
    expect(alice.balance).toBe(898n);
    expect(alice.attributes.htlc?.lockedBalance).toBe(100n);
    expect(Object.keys(present(alice.attributes.htlc, "htlc").locks)).toEqual([second.id]);
  });

  test("A hash-time-locked amount is not active without its milestone.", () => {
    const off = networkWith([{ height: 1, htlcEnabled: false }]);
    expect(refusalOf(stateOf(actors), lock(99), { network: off })).toBe("DeactivatedTransactionHandlerError");
  });
});
