import { createDraft, createMemoryState, recordUses, voucherKey } from "@uniknode/ledger";
import type { NftToken, Transaction } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import { sealed, transactionOf } from "../../test-support/fixtures.ts";

const mint = (name: string, properties?: NftToken["properties"]) =>
  transactionOf("2001/3", "alice", {
    asset: { nft: { [name]: { tokenId: "t", ...(properties && { properties }) } } },
  });

function recorded(...transactions: Transaction[]) {
  const draft = createDraft(createMemoryState());
  recordUses(
    draft,
    transactions.map((transaction) => sealed(transaction)),
  );
  return draft;
}

describe("used vouchers", () => {
  test("Trap A3: used vouchers are recorded when the block is complete; the first of two mints in it is kept.", () => {
    const [first, second] = [mint("unik", { UnikVoucherId: "v" }), mint("unik", { UnikVoucherId: "v" })];
    expect(recorded(first, second).get("vouchers", voucherKey("unik", "v"))).toBe(first.id);
  });

  test("Used vouchers belong to the name of the token.", () => {
    const draft = recorded(mint("unik", { UnikVoucherId: "v" }));
    expect(draft.get("vouchers", voucherKey("other", "v"))).toBeUndefined();
    expect(voucherKey("a/b", "c")).not.toBe(voucherKey("a", "b/c"));
  });

  test("Used vouchers are not recorded if the property is empty, deleted or absent.", () => {
    const draft = recorded(
      mint("unik", { UnikVoucherId: "" }),
      mint("unik", { UnikVoucherId: null }),
      mint("unik"),
    );
    expect(draft.changes()).toEqual([]);
  });

  test("Used vouchers are not recorded for an update.", () => {
    const update = { ...mint("unik", { UnikVoucherId: "v" }), type: 4 };
    expect(recorded(update).changes()).toEqual([]);
  });
});

test("A disclose demand is identified by the subject of its certification.", () => {
  const certification = { payload: { sub: "subject", iss: "", iat: 0 }, signature: "" };
  const disclosure = transactionOf("2001/0", "alice", {
    asset: { "disclose-demand-certification": certification },
  });
  expect(recorded(disclosure).get("disclosures", "subject")).toBe(disclosure.id);
});
