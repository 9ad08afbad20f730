import { expect, test } from "vitest";
import { assetDetails, subjectOf } from "../../src/components/transactions/asset.ts";
import { KINDS, titleOf } from "../../src/components/transactions/kinds.ts";

const plain = { typeGroup: 1, type: 0, sender: "A", recipient: "B" };

test("All 28 types of the network have their own name in their group.", () => {
  expect(KINDS).toHaveLength(28);
  expect(titleOf({ typeGroup: 2001, type: 5 })).toBe("Vote");
  expect(titleOf({ typeGroup: 9, type: 1 })).toBe("Type 9/1");
});

test("The summary of a transfer names its recipient, that of a vote the delegate, that of a mint the unik.", () => {
  expect(subjectOf(plain)).toEqual(["", [{ is: "address", id: "B" }]]);
  expect(subjectOf({ ...plain, typeGroup: 2001, type: 5, asset: { votes: ["-02aa"] } })).toEqual([
    "not",
    [{ is: "delegate", id: "02aa" }],
  ]);
  expect(subjectOf({ ...plain, typeGroup: 2000, asset: { nft: { unik: { tokenId: "cc" } } } })).toEqual([
    "",
    [{ is: "unik", id: "cc" }],
  ]);
  expect(subjectOf({ ...plain, type: 6, asset: { payments: [{}, {}] } })[1]).toEqual([
    { is: "text", text: "2 recipients" },
  ]);
});

test("Payments are listed with their amounts.", () => {
  const asset = { payments: [{ recipientId: "C", amount: "100000000" }] };
  expect(assetDetails({ ...plain, type: 6, asset })).toEqual([
    [
      "Payment 1",
      [
        { is: "address", id: "C" },
        { is: "amount", amount: "100000000" },
      ],
    ],
  ]);
});

test("A removed property is shown as removed, and a type of a unik with its name.", () => {
  const asset = { nft: { unik: { tokenId: "cc", properties: { "usr/phone": null, type: "2" } } } };
  expect(assetDetails({ ...plain, asset }).slice(1)).toEqual([
    ["Property usr/phone", [{ is: "text", text: "removed" }]],
    ["Property type", [{ is: "text", text: "organization" }]],
  ]);
});

test.each([null, 7, "text", [], { unik: 7 }, { payments: "none" }])(
  "A member that is %j does not fail.",
  (value) => {
    for (const member of [
      "signature",
      "delegate",
      "votes",
      "multiSignature",
      "ipfs",
      "payments",
      "lock",
      "claim",
      "refund",
      "nft",
      "disclose-demand",
      "disclose-demand-certification",
      "later",
    ]) {
      expect(() => subjectOf({ ...plain, asset: { [member]: value } })).not.toThrow();
    }
  },
);

test("Members that the console does not know are shown as they are.", () => {
  expect(assetDetails({ ...plain, asset: { later: { a: 1 } } })).toEqual([
    ["later", [{ is: "text", text: '{"a":1}' }]],
  ]);
});
