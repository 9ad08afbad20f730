import { describe, expect, test } from "vitest";
import {
  findTransactionType,
  isTypeActive,
  type Milestone,
  staticFee,
  transactionKey,
  typeStaticFee,
} from "../../src/index.ts";
import { present } from "../../src/present.ts";
import { bodyOf, livenet, participantKeys, testnet, transfer } from "./fixtures.ts";

const milestone = livenet.milestoneAt(2);
const withFees = (staticFees: Record<string, number>): Milestone => ({ ...milestone, fees: { staticFees } });

describe("static fees", () => {
  test("The milestone's amount of a static fee takes precedence over the type's.", () => {
    expect(staticFee(transfer(), withFees({}))).toBe(10_000_000n);
    expect(staticFee(transfer(), withFees({ transfer: 7 }))).toBe(7n);
    expect(staticFee(transfer(), withFees({ transfer: 0 }))).toBe(0n);
  });

  test("A multi-signature registration pays for each key and once more.", () => {
    const registration = bodyOf(4, { asset: { multiSignature: { min: 2, publicKeys: participantKeys } } });
    expect(staticFee(registration, withFees({}))).toBe(2_000_000_000n);
    expect(staticFee(registration, withFees({ multiSignature: 5 }))).toBe(20n);
    expect(
      typeStaticFee(
        present(findTransactionType(1, 4), "the result of findTransactionType"),
        withFees({ multiSignature: 5 }),
      ),
    ).toBe(5n);
  });

  test("An entity pays by its action.", () => {
    const entity = (action: number) => bodyOf(6, { typeGroup: 2, asset: { action } });
    expect([0, 1, 2].map((action) => staticFee(entity(action), withFees({})))).toEqual([
      5_000_000_000n,
      500_000_000n,
      500_000_000n,
    ]);
    // A milestone does not change it.
    expect(staticFee(entity(0), withFees({ entity: 5 }))).toBe(5_000_000_000n);
  });

  test("An unknown type has no fee.", () => {
    expect(() => staticFee(transfer({ type: 99 }), milestone)).toThrow(
      expect.objectContaining({ code: "UnkownTransactionError" }),
    );
  });
});

describe("activation", () => {
  test("A type that the network disabled stays disabled, if the switch is read.", () => {
    const isActive = (typeGroup: number, type: number) =>
      isTypeActive(typeGroup, type, { network: livenet, height: 2 });
    expect(isActive(1, 2)).toBe(false);
    // Trap A13: the switch of these is not read.
    expect(isActive(2, 0)).toBe(true);
    expect(isActive(1, 0)).toBe(true);
  });

  test("Milestones activate and deactivate types.", () => {
    const at = (height: number) => ({ network: testnet, height });
    expect([1, 2].map((height) => isTypeActive(1, 6, at(height)))).toEqual([false, true]);
    expect([59, 60].map((height) => isTypeActive(2, 6, at(height)))).toEqual([false, true]);
    expect([59, 60].map((height) => isTypeActive(2, 0, at(height)))).toEqual([true, false]);
  });
});

test("The policy returns the key of a type, and none for an unknown one.", () => {
  expect(transactionKey(2001, 3)).toBe("UnsCertifiedNftMint");
  expect(() => transactionKey(1, 11)).toThrow(expect.objectContaining({ code: "UnkownTransactionError" }));
});
