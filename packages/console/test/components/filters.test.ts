import { expect, test } from "vitest";
import {
  addressFault,
  amountFault,
  heightFault,
  idFault,
  publicKeyFault,
} from "../../src/components/faults.ts";
import { areValid, filterFaults } from "../../src/components/filters.tsx";

const OPTIONS = [
  { value: "", label: "All" },
  { value: "failed", label: "Failed" },
];
const FIELDS = [
  { name: "state", label: "State", options: OPTIONS },
  { name: "event", label: "Event" },
  { name: "height", label: "Height", faultOf: heightFault },
];

test("A list without filters, or with valid ones, has no fault.", () => {
  for (const query of [
    {},
    { state: "", height: "" },
    { state: "failed", event: "*", height: "12", other: "x" },
  ]) {
    expect(areValid(FIELDS, query)).toBe(true);
  }
});

test("Invalid texts and unknown options have a fault each.", () => {
  expect(filterFaults(FIELDS, { state: "fialed", height: "twelve" })).toEqual({
    state: "Expected: one of the options.",
    height: "Expected: a number from 1.",
  });
});

test.each([
  [addressFault, ["D".repeat(34)], ["D".repeat(33), "D".repeat(33).concat(".")]],
  [idFault, ["ab".repeat(32)], ["ab".repeat(31), "AB".repeat(32)]],
  [publicKeyFault, [`02${"ab".repeat(32)}`], [`04${"ab".repeat(32)}`, "alice"]],
  [heightFault, ["1", "999999999"], ["0", "-1", "1.5", "1e3"]],
  [amountFault, ["0", "1", "12.5", "0,00000001"], ["-1", "1.000000001", "ten", "1e3"]],
] as const)("A filter accepts the texts that the node accepts: %#.", (faultOf, valid, invalid) => {
  for (const text of valid) expect(faultOf(text)).toBeUndefined();
  for (const text of invalid) expect(faultOf(text)).toMatch(/\.$/);
});
