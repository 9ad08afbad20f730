/** Disclosures (transactions-rules.md 7.1). */

import { recordUses } from "@uniknode/ledger";
import { present } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import {
  type DisclosureTerms,
  disclosure,
  stateWithFactory,
  unikNetwork,
  V1,
} from "../../test-support/certified.ts";
import { addressOfName, apply, refusalOf, stateOf, walletNamed } from "../../test-support/fixtures.ts";
import { putWallet } from "../../test-support/holdings.ts";
import { giveUnik, propertiesOf, propertyOf, tokenId } from "../../test-support/uniks.ts";

const rich = { balance: 1000n };

function stateWithCat(properties: Record<string, string> = {}) {
  const draft = stateWithFactory({ alice: rich, bob: rich });
  giveUnik(draft, "alice", "cat", { type: "1", ...properties });
  return draft;
}
const disclose = (values: string[], terms: DisclosureTerms = {}) => disclosure("alice", "cat", values, terms);
const valuesAfter = (known: string | undefined, values: string[]) => {
  const draft = stateWithCat(known === undefined ? {} : { explicitValues: known });
  apply(draft, disclose(values), V1);
  return propertyOf(draft, "cat", "explicitValues");
};

describe("disclosure", () => {
  test("A disclosure writes the values, and is not the last transaction of the token.", () => {
    const draft = stateWithCat();
    apply(draft, disclose(["bobby", "bob"]), V1);
    expect(propertiesOf(draft, "cat")).toEqual({ type: "1", explicitValues: "bobby,bob" });
    expect(draft.get("tokens", tokenId("cat"))?.lastTransaction).toBe("mint");
    expect(walletNamed(draft, "alice")).toMatchObject({ balance: 999n, nonce: 1n });
  });

  test("New values of a disclosure precede, each once; an empty text leaves a comma.", () => {
    expect(valuesAfter("a,b", ["c", "b", "c"])).toBe("c,b,a");
    expect(valuesAfter("", ["c"])).toBe("c,");
    expect(valuesAfter("a", ["b,c", "a"])).toBe("b,c,a");
  });

  test("Trap A8: the joined text has up to 255 characters, or there is no valid block.", () => {
    expect(valuesAfter("é".repeat(100), ["x".repeat(154)])).toHaveLength(255);
    const draft = stateWithCat({ explicitValues: "é".repeat(100) });
    expect(refusalOf(draft, disclose(["x".repeat(155)]), V1)).toBe("NftPropertyTooLongError");
  });

  test("Trap A8: spaces beyond 255 characters are cut.", () => {
    const known = `${"é".repeat(200)}    `;
    expect(valuesAfter(known, ["x".repeat(54)])).toBe(`${"x".repeat(54)},${"é".repeat(200)}`);
    const draft = stateWithCat({ explicitValues: `${known}y` });
    expect(refusalOf(draft, disclose(["x".repeat(54)]), V1)).toBe("NftPropertyTooLongError");
  });

  test("Trap B4: after a revert, the property is absent, and not an empty text.", () => {
    const draft = stateWithCat();
    const mark = draft.mark();
    apply(draft, disclose(["bobby"]), V1);
    draft.rollback(mark);
    expect(propertiesOf(draft, "cat")).toEqual({ type: "1" });
  });

  test("Trap A8: a sender without any token discloses for any token, existing or not.", () => {
    const draft = stateWithCat();
    apply(draft, disclosure("bob", "cat", ["x"], { demandSigner: "alice" }), V1);
    expect(propertyOf(draft, "cat", "explicitValues")).toBe("x");
    const ofNothing = disclosure("bob", "none", ["y"], {
      demander: "cat",
      demandSigner: "alice",
      members: { nonce: 2n },
    });
    apply(draft, ofNothing, V1);
    expect(propertyOf(draft, "none", "explicitValues")).toBe("y");
    expect(draft.get("tokens", tokenId("none"))).toBeUndefined();
  });

  test("Trap A8: the demand may be issued by another token, of another owner.", () => {
    const draft = stateWithCat();
    giveUnik(draft, "bob", "dog");
    expect(refusalOf(draft, disclose(["x"], { demander: "dog", demandSigner: "bob" }), V1)).toBe("");
  });
});

describe("refusals of a disclosure, in order", () => {
  test("1 to 3: issuer allowed and known, demander known", () => {
    const bad = { certifier: "bob", demandSigner: "bob" };
    const draft = stateWithCat();
    expect(refusalOf(draft, disclose(["x"], { issuer: "unknown", demander: "none", ...bad }), V1)).toBe(
      "CertifiedDemandNotAllowedIssuerError",
    );
    const withoutFactory = stateOf({ alice: rich });
    expect(refusalOf(withoutFactory, disclose(["x"], { demander: "none", ...bad }), V1)).toBe(
      "IssuerNotFound",
    );
    const transaction = disclose(["x"], { demander: "none", ...bad });
    expect(refusalOf(draft, transaction, V1)).toBe("CertifiedDemandIssuerNotFound");
    expect(() => apply(draft, transaction, V1)).toThrow(
      `Failed to apply transaction ${transaction.id}, because Cannot read property 'ownerId' of null`,
    );
  });

  test("1: a checker of the milestone can certify", () => {
    const draft = stateWithCat();
    giveUnik(draft, "bob", "checker", { type: "2" });
    const transaction = disclose(["x"], { issuer: "checker", certifier: "bob" });
    const at = (height: number) => ({ network: unikNetwork(), head: { height, timestamp: 0 } });
    expect(refusalOf(draft, transaction, at(29))).toBe("CertifiedDemandNotAllowedIssuerError");
    expect(refusalOf(draft, transaction, at(30))).toBe("");
  });

  test("4 to 6: signatures of certification and demand, then the subject", () => {
    const draft = stateWithCat();
    expect(refusalOf(draft, disclose(["x"], { certifier: "bob", demandSigner: "bob" }), V1)).toBe(
      "DiscloseDemandCertificationSignatureError",
    );
    const other = present(
      disclose(["y"]).asset?.["disclose-demand-certification"],
      "disclose-demand-certification",
    );
    const mixed = (terms: DisclosureTerms) => {
      const transaction = disclose(["x"], terms);
      return { ...transaction, asset: { ...transaction.asset, "disclose-demand-certification": other } };
    };
    expect(refusalOf(draft, mixed({ demandSigner: "bob" }), V1)).toBe("DiscloseDemandSignatureError");
    expect(refusalOf(draft, mixed({}), V1)).toBe("DiscloseDemandSubInvalidError");
  });

  test("4 and 5: owners whose keys are unknown have signed nothing", () => {
    const forget = (name: string) => {
      const draft = stateWithCat();
      const { publicKey: _, ...keyless } = walletNamed(draft, name);
      putWallet(draft, keyless);
      return draft;
    };
    expect(refusalOf(forget("factory"), disclose(["x"]), V1)).toBe(
      "DiscloseDemandCertificationSignatureError",
    );
    const fromBob = disclosure("bob", "cat", ["x"], { demandSigner: "alice" });
    expect(refusalOf(forget("alice"), fromBob, V1)).toBe("DiscloseDemandSignatureError");
  });

  test("7, trap A3: a demand is used when its block is complete, while the token has values", () => {
    const draft = stateWithCat();
    const first = disclose(["x"]);
    apply(draft, first, V1);
    const again = { ...disclose(["x"]), nonce: 2n };
    const mark = draft.mark();
    expect(refusalOf(draft, again, V1)).toBe("");
    draft.rollback(mark);
    recordUses(draft, [{ data: first, bytes: new Uint8Array(), isVerified: true }]);
    expect(refusalOf(draft, again, V1)).toBe("DiscloseDemandAlreadyExistsError");
    draft.set("properties", `${tokenId("cat")}/explicitValues`, "");
    expect(refusalOf(draft, again, V1)).toBe("DiscloseDemandAlreadyExistsError");
    draft.set("properties", `${tokenId("cat")}/explicitValues`, undefined);
    expect(refusalOf(draft, again, V1)).toBe("");
  });

  test("8 and 9: a holder of other tokens only, then the generic checks", () => {
    const draft = stateWithCat();
    giveUnik(draft, "bob", "dog");
    const fromBob = disclosure("bob", "cat", ["x"], { demandSigner: "alice", members: { nonce: 9n } });
    expect(refusalOf(draft, fromBob, V1)).toBe("NftOwnerError");
    expect(() => apply(draft, fromBob, V1)).toThrow(
      `because wallet '${addressOfName("bob")}' is not the owner of token '${tokenId("cat")}'`,
    );
    expect(refusalOf(draft, disclose(["x"], { members: { nonce: 9n } }), V1)).toBe("UnexpectedNonceError");
  });
});
