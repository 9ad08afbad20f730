import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Certification,
  certificationSubject,
  certify,
  type Demand,
  demandBytes,
  type NftAsset,
  signDemand,
  verifyCertification,
  verifyDemand,
} from "../../../src/index.ts";
import {
  address,
  certification as anyCertification,
  demand as anyDemand,
  nft as anyNft,
} from "../../../test-support/arbitraries.ts";
import { addressOf, delegate, factory, hexOf, idOf, sender } from "../../../test-support/builders.ts";

const nft: NftAsset = { unik: { tokenId: idOf("token"), properties: { type: "1", old: null } } };
const payload: Demand["payload"] = {
  iss: idOf("issuer"),
  sub: idOf("token"),
  iat: 1_579_165_954,
  cryptoAccountAddress: addressOf(sender),
};
const terms = { iss: idOf("factory"), iat: 1_579_165_955, cost: 100_000_000n };
const demand = signDemand(nft, payload, sender);
const certification = certify(nft, demand, terms, factory);

test("A demand and its certification are valid for their keys only.", () => {
  expect(verifyDemand(nft, demand, hexOf(sender))).toBe(true);
  expect(verifyDemand(nft, demand, hexOf(factory))).toBe(false);
  expect(verifyCertification(certification, hexOf(factory))).toBe(true);
  expect(verifyCertification(certification, hexOf(sender))).toBe(false);
});

describe("every member of a demand is signed", () => {
  const { unik } = nft as { unik: { tokenId: string; properties: object } };
  test.each<[string, NftAsset, Partial<Demand["payload"]>]>([
    ["token name", { other: unik } as NftAsset, {}],
    ["token id", { unik: { ...unik, tokenId: idOf("other") } } as NftAsset, {}],
    ["property", { unik: { ...unik, properties: { type: "2", old: null } } }, {}],
    ["order of properties", { unik: { ...unik, properties: { old: null, type: "1" } } }, {}],
    ["iss", nft, { iss: idOf("other") }],
    ["sub", nft, { sub: idOf("other") }],
    ["iat", nft, { iat: payload.iat + 1 }],
    ["address", nft, { cryptoAccountAddress: addressOf(delegate) }],
  ])("%s", (_name, alteredNft, change) => {
    const altered = { ...demand, payload: { ...payload, ...change } };
    expect(verifyDemand(alteredNft, altered, hexOf(sender))).toBe(false);
    expect(certificationSubject(alteredNft, altered)).not.toBe(certification.payload.sub);
  });
});

test("The subject includes the signature of the demand.", () => {
  const other = signDemand(nft, payload, delegate);
  expect(demandBytes(nft, other.payload)).toEqual(demandBytes(nft, payload));
  expect(certificationSubject(nft, other)).not.toBe(certification.payload.sub);
});

test.each<[string, Partial<Certification["payload"]>]>([
  ["sub", { sub: idOf("other") }],
  ["iss", { iss: idOf("other") }],
  ["iat", { iat: terms.iat + 1 }],
  ["cost", { cost: 1n }],
])("%s of a certification is signed", (_name, change) => {
  const altered = { ...certification, payload: { ...certification.payload, ...change } };
  expect(verifyCertification(altered, hexOf(factory))).toBe(false);
});

test.each(["", "3000", "00".repeat(64)])("A signature %j is not valid.", (signature) => {
  expect(verifyCertification({ ...certification, signature }, hexOf(factory))).toBe(false);
});

test("Every certification verifies.", () => {
  const inputs = [anyNft, anyDemand, anyCertification, address] as const;
  fc.assert(
    fc.property(...inputs, (token, { payload: wanted }, { payload: given }, cryptoAccountAddress) => {
      const signed = signDemand(token, { ...wanted, cryptoAccountAddress }, sender);
      const certified = certify(token, signed, given, factory);
      expect(verifyDemand(token, signed, hexOf(sender))).toBe(true);
      expect(verifyCertification(certified, hexOf(factory))).toBe(true);
      expect(certified.payload.sub).toBe(certificationSubject(token, signed));
    }),
    { numRuns: 30 },
  );
});
