import { expect, test } from "vitest";
import { matchesBatchSchema, transactionToJson } from "../../src/index.ts";
import { present } from "../../src/present.ts";
import { context, participantKeys, recipientId, transfer } from "./fixtures.ts";

const hash = "cd".repeat(32);
const signed = (body: object) => ({ ...body, id: hash, signature: "ab".repeat(64) });
const transferWith = (changes: object) => ({
  ...signed(transactionToJson({ ...transfer(), id: hash })),
  ...changes,
});
const typed = (typeGroup: number, type: number, changes: object) => ({
  ...transferWith({ typeGroup, type, amount: 0, recipientId: undefined }),
  ...changes,
});
const entity = (asset: object) => typed(2, 6, { asset: { type: 0, subType: 0, data: {}, ...asset } });
const nft = (properties: object) =>
  typed(2000, 0, { asset: { nft: { unik: { tokenId: hash, properties } } } });

const INTEGER = "must be an integer from 1 to 9223372036854775807, as a number or as text";

/** The first violation as one line. */
function messageOf(item: unknown): string {
  const { path, expectation } = present(
    matchesBatchSchema([item], context),
    "the result of matchesBatchSchema",
  );
  return `${path.replace(/^\/0\/?/, "")} ${expectation}`;
}

test.each<[string, unknown, string]>([
  ["an amount of 0", transferWith({ amount: 0 }), `amount ${INTEGER}`],
  ["a fee that is not a number", transferWith({ fee: "many" }), `fee ${INTEGER}`],
  ["an amount of a type without amounts", typed(1, 7, { amount: 1 }), "amount must be 0"],
  ["an absent member", transferWith({ recipientId: undefined }), "recipientId is required"],
  ["a version that is not in force", transferWith({ version: 3 }), "version must be 1 or 2"],
  [
    "another network",
    transferWith({ network: 63 }),
    `network must be ${context.network.description.pubKeyHash}, as on the whole network`,
  ],
  ["a text of another kind", transferWith({ vendorField: 5 }), "vendorField must be string"],
  [
    "a text that is too long",
    transferWith({ vendorField: "é".repeat(128) }),
    "vendorField must have up to 255 bytes",
  ],
  ["a short id", transferWith({ id: "ab" }), "id must NOT have fewer than 64 characters"],
  [
    "a second signature on its registration",
    typed(1, 1, { asset: { signature: { publicKey: participantKeys[0] } }, secondSignature: "ab" }),
    "secondSignature is not allowed",
  ],
  [
    "too many payments",
    typed(1, 6, { asset: { payments: Array.from({ length: 129 }, () => ({ amount: 1, recipientId })) } }),
    "type 6 allows up to 128 payments",
  ],
  ["an entity without action", entity({ registrationId: hash }), "asset/action is required"],
  [
    "an entity with an unknown action",
    entity({ registrationId: hash, action: 3 }),
    "asset/action must be 0 or 1 or 2",
  ],
  ["a change of an unnamed entity", entity({ action: 1 }), "asset/registrationId is required"],
  ["a registration of an entity without name", entity({ action: 0 }), "asset/data/name is required"],
  [
    "a property name that is too long",
    nft({ ["x".repeat(256)]: "" }),
    "asset/nft/unik/properties has a member whose name must NOT have more than 255 characters",
  ],
  [
    "a property name with a slash",
    nft({ "usr/shape": "x".repeat(256) }),
    "asset/nft/unik/properties/usr~1shape must NOT have more than 255 characters",
  ],
  [
    "a seed node on the machine itself",
    typed(2, 3, {
      asset: {
        bridgechainRegistration: {
          name: "a",
          seedNodes: ["127.0.0.1"],
          genesisHash: hash,
          bridgechainRepository: "https://a.example",
          ports: { "@arkecosystem/core-api": 1 },
        },
      },
    }),
    "asset/bridgechainRegistration/seedNodes/0 must be an IPv4 or IPv6 address, and none of the machine itself",
  ],
  [
    "ports without the required one",
    typed(2, 3, {
      asset: {
        bridgechainRegistration: {
          name: "a",
          seedNodes: ["10.0.0.1"],
          genesisHash: hash,
          bridgechainRepository: "https://a.example",
          ports: { a: 1 },
        },
      },
    }),
    "asset/bridgechainRegistration/ports/@arkecosystem~1core-api is required",
  ],
  [
    "an unknown type",
    transferWith({ type: 99 }),
    ' must name a known type by the integers "type" and "typeGroup", which is 1 if absent',
  ],
])("%s", (_, item, expected) => {
  expect(messageOf(item)).toBe(expected);
});
