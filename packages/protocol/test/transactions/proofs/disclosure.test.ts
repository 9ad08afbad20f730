import { expect, test } from "vitest";
import {
  certifyDisclosure,
  type DiscloseCertification,
  type DiscloseDemand,
  discloseDemandBytes,
  discloseSubject,
  signDiscloseDemand,
  verifyDiscloseCertification,
  verifyDiscloseDemand,
} from "../../../src/index.ts";
import { factory, hexOf, idOf, sender } from "../../../test-support/builders.ts";

const payload: DiscloseDemand["payload"] = {
  explicitValue: ["bob", "bobby"],
  type: 1,
  iss: idOf("token"),
  sub: idOf("token"),
  iat: 1_579_165_954,
};
const demand = signDiscloseDemand(payload, sender);
const certification = certifyDisclosure(demand, { iss: idOf("factory"), iat: 1_579_165_955 }, factory);

test("A demand and its certification are valid for their keys only.", () => {
  expect(verifyDiscloseDemand(demand, hexOf(sender))).toBe(true);
  expect(verifyDiscloseDemand(demand, hexOf(factory))).toBe(false);
  expect(verifyDiscloseCertification(certification, hexOf(factory))).toBe(true);
  expect(verifyDiscloseCertification(certification, hexOf(sender))).toBe(false);
  expect(certification.payload.sub).toBe(discloseSubject(payload));
});

test.each<[string, Partial<DiscloseDemand["payload"]>]>([
  ["values", { explicitValue: ["bob"] }],
  ["type", { type: 2 }],
  ["iss", { iss: idOf("other") }],
  ["sub", { sub: idOf("other") }],
  ["iat", { iat: 0 }],
])("%s of a demand is signed", (_name, change) => {
  const altered = { ...demand, payload: { ...payload, ...change } };
  expect(verifyDiscloseDemand(altered, hexOf(sender))).toBe(false);
  expect(discloseSubject(altered.payload)).not.toBe(certification.payload.sub);
});

test.each<[string, Partial<DiscloseCertification["payload"]>]>([
  ["sub", { sub: idOf("other") }],
  ["iss", { iss: idOf("other") }],
  ["iat", { iat: 0 }],
])("%s of a certification is signed", (_name, change) => {
  const altered = { ...certification, payload: { ...certification.payload, ...change } };
  expect(verifyDiscloseCertification(altered, hexOf(factory))).toBe(false);
});

/** There is no separator between the values, so two lists can have one signature. */
test("The borders of the values are not signed.", () => {
  const joined = { ...payload, explicitValue: ["bobb", "obby"] };
  expect(discloseDemandBytes(joined)).toEqual(discloseDemandBytes(payload));
});
