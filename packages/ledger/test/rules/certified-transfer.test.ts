/** Certified transfers (transactions-rules.md 6.3). */
import { describe, expect, test } from "vitest";
import { certifiedTransfer, stateWithFactory, V1 } from "../../test-support/certified.ts";
import {
  type Actors,
  addressOfName,
  apply,
  networkWith,
  publicKeyOf,
  refusalOf,
  someDelegate,
  walletNamed,
} from "../../test-support/fixtures.ts";
import { giveUnik, held, propertiesOf, tokenId, unik } from "../../test-support/uniks.ts";

const rich = { balance: 1000n };

function stateWithCat(actors: Actors = {}) {
  const draft = stateWithFactory({ alice: rich, bob: rich, ...actors });
  giveUnik(draft, "alice", "cat", { type: "1" });
  return draft;
}
const transfer = (terms: Parameters<typeof certifiedTransfer>[3] = {}) =>
  certifiedTransfer("alice", "bob", unik("cat"), terms);

describe("certified transfer", () => {
  test("A certified transfer moves the token, and the cost to the owner of the issuing token.", () => {
    const draft = stateWithCat();
    apply(draft, transfer({ cost: 100n }), V1);
    expect(walletNamed(draft, "alice")).toMatchObject({ balance: 899n, nonce: 1n, attributes: {} });
    expect(walletNamed(draft, "bob")).toMatchObject({ balance: 1000n });
    expect(walletNamed(draft, "factory").balance).toBe(100n);
    expect(held(draft, "bob")).toEqual([tokenId("cat")]);
    expect(draft.get("tokens", tokenId("cat"))?.ownerId).toBe(addressOfName("bob"));
  });

  test("Trap A11: a certified transfer accepts properties without constraints.", () => {
    const draft = stateWithCat();
    apply(draft, certifiedTransfer("alice", "bob", unik("cat", { type: "2", "any key": "v" })), V1);
    expect(propertiesOf(draft, "cat")).toEqual({ type: "2", "any key": "v" });
    expect(walletNamed(draft, "bob").attributes.tokens).toEqual({ [tokenId("cat")]: { type: 2 } });
  });

  test("A certified transfer checks the balance after the cost.", () => {
    expect(refusalOf(stateWithCat(), transfer({ cost: 1000n }), V1)).toBe("InsufficientBalanceError");
    expect(refusalOf(stateWithCat(), transfer({ cost: 999n }), V1)).toBe("");
  });

  test("Trap B1: a refusal does not keep the cost.", () => {
    const draft = stateWithCat();
    expect(refusalOf(draft, transfer({ cost: 100n, issuer: "unknown" }), V1)).toBe(
      "CertifiedDemandNotAllowedIssuerError",
    );
    expect(walletNamed(draft, "alice").balance).toBe(1000n);
  });

  test("A certified transfer refuses in the order of its section.", () => {
    const draft = stateWithCat();
    expect(refusalOf(stateWithFactory({ alice: rich }), transfer({ certifier: "bob" }), V1)).toBe(
      "NftOwnerError",
    );
    expect(refusalOf(draft, transfer({ certifier: "bob", subject: "none" }), V1)).toBe(
      "NftCertificationBadSignatureError",
    );
    expect(refusalOf(draft, transfer({ certified: unik("dog"), subject: "none" }), V1)).toBe(
      "NftCertificationBadPayloadSubjectError",
    );
    // 3: the token of the demand does not exist, or belongs to another account
    for (const subject of ["none", "factory"]) {
      const elsewhere = { ...transfer({ subject }), recipientId: addressOfName("carol") };
      expect(() => apply(draft, elsewhere, V1)).toThrow('invalid parameter "sender"');
    }
    const elsewhere = { ...transfer(), recipientId: addressOfName("carol") };
    expect(() => apply(draft, elsewhere, V1)).toThrow('invalid parameter "recipient"');
  });

  test("The demand of a certified transfer can name another token of the sender.", () => {
    const draft = stateWithCat();
    giveUnik(draft, "alice", "dog");
    expect(refusalOf(draft, transfer({ subject: "dog" }), V1)).toBe("");
  });

  test("Trap A19: the cost of transferring the issuing token goes to its new owner.", () => {
    const draft = stateWithFactory({ factory: rich, bob: {} });
    apply(draft, certifiedTransfer("factory", "bob", unik("factory"), { cost: 100n }), V1);
    expect(walletNamed(draft, "factory").balance).toBe(899n);
    expect(walletNamed(draft, "bob").balance).toBe(100n);
  });

  test("Trap A7: a token sent to its own sender is moved to the end.", () => {
    const draft = stateWithCat();
    giveUnik(draft, "alice", "dog");
    apply(draft, certifiedTransfer("alice", "alice", unik("cat")), V1);
    expect(held(draft, "alice")).toEqual([tokenId("dog"), tokenId("cat")]);
  });

  test("Trap A6: the cost moves no vote balance.", () => {
    const vote = publicKeyOf("delegate");
    const delegate = someDelegate({ voteBalance: 1000n });
    const draft = stateWithCat({
      alice: { ...rich, attributes: { vote } },
      delegate: { attributes: { delegate } },
    });
    apply(draft, transfer({ cost: 100n }), V1);
    expect(walletNamed(draft, "delegate").attributes.delegate?.voteBalance).toBe(999n);
  });

  test("Trap B13: a revert restores the previous state.", () => {
    const draft = stateWithFactory({ factory: rich });
    const mark = draft.mark();
    const before = walletNamed(draft, "factory");
    apply(draft, certifiedTransfer("factory", "factory", unik("factory", { type: "3" }), { cost: 9n }), V1);
    draft.rollback(mark);
    expect(walletNamed(draft, "factory")).toEqual(before);
    expect(propertiesOf(draft, "factory")).toEqual({ type: "2" });
  });

  test("Certified transfers can be disabled.", () => {
    const off = networkWith([], { transactionsConfig: { UnsCertifiedNftTransfer: { enable: false } } });
    expect(refusalOf(stateWithCat(), transfer(), { network: off })).toBe(
      "DeactivatedTransactionHandlerError",
    );
  });
});
