/** Second signatures and multi signatures, with real keys (transactions-rules.md 2.2 and 3.5). */
import { judgeBlock, type Wallet, walletOf } from "@uniknode/ledger";
import {
  keysFromPassphrase,
  multiSignaturePublicKey,
  multiSignTransaction,
  secondSignTransaction,
  type Transaction,
} from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import {
  addressOfName,
  apply,
  createChain,
  network,
  networkWith,
  publicKeyOf,
  refusalOf,
  sealed,
  stateOf,
  transactionOf,
} from "../../test-support/fixtures.ts";

const pay = (members: Partial<Transaction> = {}) =>
  transactionOf("1/0", "alice", {
    amount: 10n,
    expiration: 0,
    recipientId: addressOfName("bob"),
    ...members,
  });
const key = keysFromPassphrase;
const rich = { balance: 1000n };

describe("a wallet with a second key", () => {
  const alice = { ...rich, attributes: { secondPublicKey: publicKeyOf("second") } };

  test("G5: needs the right second signature", () => {
    expect(refusalOf(stateOf({ alice }), secondSignTransaction(pay(), key("second")))).toBe("");
    expect(refusalOf(stateOf({ alice }), secondSignTransaction(pay(), key("other")))).toBe(
      "InvalidSecondSignatureError",
    );
    expect(refusalOf(stateOf({ alice }), pay())).toBe("InvalidSecondSignatureError");
  });

  test("A wallet needs its second key from the next transaction on, also in the block of the registration.", () => {
    const draft = stateOf({ alice: rich });
    apply(
      draft,
      transactionOf("1/1", "alice", { asset: { signature: { publicKey: publicKeyOf("second") } } }),
    );
    expect(refusalOf(draft, pay({ nonce: 2n }))).toBe("InvalidSecondSignatureError");
    expect(refusalOf(draft, secondSignTransaction(pay({ nonce: 2n }), key("second")))).toBe("");
  });
});

const participants = ["carol", "dave", "erin"];
const asset = { min: 2, publicKeys: participants.map(publicKeyOf) };
const sharedKey = multiSignaturePublicKey(asset);

/** Signatures of participants by their index; the name of another account gives a wrong signature. */
const signedBy = (transaction: Transaction, signers: [index: number, name: string][]) =>
  signers.reduce((signed, [index, name]) => multiSignTransaction(signed, index, key(name)), transaction);

describe("registration of a multi signature wallet", () => {
  const register = (signers: [number, string][], members = asset) =>
    signedBy(transactionOf("1/4", "alice", { asset: { multiSignature: members } }), signers);
  const allSigners: [number, string][] = [
    [0, "carol"],
    [1, "dave"],
    [2, "erin"],
  ];

  test("The registration is paid by the sender and changes the wallet of the keys.", () => {
    const draft = stateOf({ alice: rich });
    apply(draft, register(allSigners));
    const wallet = walletOf(draft, sharedKey, network);
    expect(wallet).toMatchObject({ balance: 0n, nonce: 0n, attributes: { multiSignature: asset } });
    expect(draft.get("wallets", wallet.address)?.publicKey).toBe(sharedKey);
    expect(draft.get("wallets", addressOfName("alice"))?.balance).toBe(999n);
    const again = { ...register(allSigners), nonce: 2n };
    expect(refusalOf(draft, again)).toBe("MultiSignatureAlreadyRegisteredError");
  });

  test("The registration refuses inconsistent numbers.", () => {
    const refused = (members: typeof asset, signers = allSigners) =>
      refusalOf(stateOf({ alice: rich }), register(signers, members));
    expect(refused({ ...asset, min: 0 })).toBe("MultiSignatureMinimumKeysError");
    expect(refused({ ...asset, min: 4 })).toBe("MultiSignatureMinimumKeysError");
    const many = Array.from({ length: 17 }, (_, index) => publicKeyOf(`participant ${index}`));
    expect(refused({ min: 17, publicKeys: many })).toBe("MultiSignatureMinimumKeysError");
    expect(refused(asset, allSigners.slice(0, 2))).toBe("MultiSignatureKeyCountMismatchError");
  });

  test("Trap A17: the registration needs only `min` valid signatures, others can be wrong.", () => {
    const withWrong = (...wrong: number[]) =>
      allSigners.map(([index, name]): [number, string] => [index, wrong.includes(index) ? "mallory" : name]);
    expect(refusalOf(stateOf({ alice: rich }), register(withWrong(1)))).toBe("");
    expect(refusalOf(stateOf({ alice: rich }), register(withWrong(0, 2)))).toBe("InvalidMultiSignatureError");
  });

  test("The registration refuses entries without a participant, and keys that are not points.", () => {
    const ofUnknown = register([[7, "carol"], ...allSigners.slice(1)]);
    expect(refusalOf(stateOf({ alice: rich }), ofUnknown)).toBe("InvalidMultiSignatureError");
    const publicKeys = ["00".repeat(33), ...asset.publicKeys.slice(1)];
    expect(refusalOf(stateOf({ alice: rich }), register(allSigners, { min: 2, publicKeys }))).toBe(
      "InvalidMultiSignatureError",
    );
  });

  test("G7: is refused before aip11", () => {
    const early = networkWith([{ height: 1, aip11: false }]);
    expect(refusalOf(stateOf({ alice: rich }), register(allSigners), { network: early })).toBe(
      "LegacyMultiSignatureRegistrationError",
    );
  });
});

/** The shared wallet, with a balance. */
const funded = (attributes: Wallet["attributes"] = { multiSignature: asset }): Wallet => ({
  ...walletOf(stateOf({}), sharedKey, network),
  balance: 1000n,
  attributes,
});
const spend = (signers: [number, string][], members: Partial<Transaction> = {}) =>
  signedBy(pay({ senderPublicKey: sharedKey, ...members }), signers);

describe("a multi signature wallet", () => {
  const stateWithShared = () => {
    const draft = stateOf({});
    const wallet = funded();
    draft.set("wallets", wallet.address, wallet);
    return draft;
  };

  test("G10: spends with enough signatures in any order", () => {
    expect(
      refusalOf(
        stateWithShared(),
        spend([
          [2, "erin"],
          [0, "carol"],
        ]),
      ),
    ).toBe("");
    expect(refusalOf(stateWithShared(), spend([[2, "erin"]]))).toBe("InvalidMultiSignaturesError");
    expect(refusalOf(stateWithShared(), spend([]))).toBe("InvalidMultiSignaturesError");
    expect(refusalOf(stateWithShared(), spend([[7, "carol"]]))).toBe("InvalidMultiSignaturesError");
  });

  test("A multi signature wallet registers neither a second key nor a delegate.", () => {
    const refused = (type: string, assetOf: Transaction["asset"]) =>
      refusalOf(
        stateWithShared(),
        transactionOf(type, "alice", { senderPublicKey: sharedKey, ...(assetOf && { asset: assetOf }) }),
      );
    const error = "NotSupportedForMultiSignatureWalletError";
    expect(refused("1/1", { signature: { publicKey: publicKeyOf("x") } })).toBe(error);
    expect(refused("1/2", { delegate: { username: "shared" } })).toBe(error);
  });

  describe("in a block", () => {
    const faultsOf = ({ id }: Transaction) => [
      { code: "unverified-transactions" as const },
      { code: "unverified-transaction" as const, transactionId: id, sequence: 0 },
    ];

    test("A multi signature wallet in a block is verified against its wallet.", () => {
      const chain = createChain();
      const wallet = funded();
      chain.state.commit([{ table: "wallets", key: wallet.address, before: undefined, after: wallet }]);
      const judge = (transaction: Transaction) => {
        const block = { ...chain.next(), transactions: [sealed(transaction, false)] };
        return judgeBlock(chain.context(), block, faultsOf(transaction));
      };
      expect(
        judge(
          spend([
            [0, "carol"],
            [1, "dave"],
          ]),
        ).kind,
      ).toBe("Accepted");
      const refused = spend([
        [0, "carol"],
        [1, "mallory"],
      ]);
      expect(judge(refused)).toMatchObject({ kind: "Rejected", faults: faultsOf(refused) });
    });

    test("Trap A17: a multi signature wallet cannot spend in the block that registers it.", () => {
      const chain = createChain();
      chain.append(
        chain.next([
          transactionOf("1/0", "premine", { amount: 100n, recipientId: funded().address }),
          transactionOf("1/0", "premine", { nonce: 2n, amount: 100n, recipientId: addressOfName("alice") }),
        ]),
      );
      const allSigners: [number, string][] = participants.map((name, index) => [index, name]);
      const registration = signedBy(
        transactionOf("1/4", "alice", { asset: { multiSignature: asset } }),
        allSigners,
      );
      const spending = spend([
        [0, "carol"],
        [1, "dave"],
      ]);
      const block = { ...chain.next(), transactions: [sealed(registration), sealed(spending, false)] };
      const faults = faultsOf(spending).map((fault) => ({
        ...fault,
        ...("sequence" in fault && { sequence: 1 }),
      }));
      expect(judgeBlock(chain.context(), block, faults)).toMatchObject({
        kind: "Rejected",
        reason: "verification-failed",
      });
      chain.append(chain.next([registration]));
      const later = { ...chain.next(), transactions: [sealed(spending, false)] };
      expect(judgeBlock(chain.context(), later, faultsOf(spending)).kind).toBe("Accepted");
    });
  });
});

describe("if signatures are assumed to be valid", () => {
  const assumed = { assumesSignatures: true };

  test("An assumed second signature must be present, and nothing else is checked.", () => {
    const alice = { ...rich, attributes: { secondPublicKey: publicKeyOf("second") } };
    const signed = secondSignTransaction(pay(), key("other"));
    expect(refusalOf(stateOf({ alice }), signed, assumed)).toBe("");
    expect(refusalOf(stateOf({ alice }), pay(), assumed)).toBe("InvalidSecondSignatureError");
    expect(refusalOf(stateOf({ alice: rich }), signed, assumed)).toBe("UnexpectedSecondSignatureError");
  });

  test("The number of assumed multisignatures must suffice, and nothing else is checked.", () => {
    const draft = () => {
      const made = stateOf({});
      made.set("wallets", funded().address, funded());
      return made;
    };
    const wrong = (count: number) =>
      spend(participants.slice(0, count).map((_, index): [number, string] => [index, "mallory"]));
    expect(refusalOf(draft(), wrong(2), assumed)).toBe("");
    expect(refusalOf(draft(), wrong(1), assumed)).toBe("InvalidMultiSignaturesError");
    expect(refusalOf(draft(), wrong(2))).toBe("InvalidMultiSignaturesError");
  });

  test("The registration of a multi signature wallet still checks its numbers if signatures are assumed.", () => {
    const register = (count: number) =>
      signedBy(
        transactionOf("1/4", "alice", { asset: { multiSignature: asset } }),
        participants.slice(0, count).map((_, index): [number, string] => [index, "mallory"]),
      );
    expect(refusalOf(stateOf({ alice: rich }), register(3), assumed)).toBe("");
    expect(refusalOf(stateOf({ alice: rich }), register(2), assumed)).toBe(
      "MultiSignatureKeyCountMismatchError",
    );
    expect(refusalOf(stateOf({ alice: rich }), register(3))).toBe("InvalidMultiSignatureError");
  });

  test("A block with assumed signatures is accepted, and one whose sender is not such a wallet is refused.", () => {
    const chain = createChain();
    chain.append(
      chain.next([
        transactionOf("1/0", "premine", { amount: 100n, recipientId: funded().address }),
        transactionOf("1/0", "premine", { nonce: 2n, amount: 100n, recipientId: addressOfName("alice") }),
      ]),
    );
    const judge = (transaction: Transaction) =>
      judgeBlock(
        { ...chain.context(), ...assumed },
        { ...chain.next(), transactions: [sealed(transaction, false)] },
        [
          { code: "unverified-transactions" },
          { code: "unverified-transaction", transactionId: transaction.id, sequence: 0 },
        ],
      );
    const spending = spend([
      [0, "mallory"],
      [1, "mallory"],
    ]);
    expect(judge(spending)).toMatchObject({ kind: "Rejected", reason: "verification-failed" });
    chain.append(
      chain.next([
        signedBy(
          transactionOf("1/4", "alice", { asset: { multiSignature: asset } }),
          participants.map((name, index): [number, string] => [index, name]),
        ),
      ]),
    );
    expect(judge(spending).kind).toBe("Accepted");
  });
});
