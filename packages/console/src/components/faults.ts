/** Functions that return what is wrong with an input; undefined if nothing is. */
import { unitsOf } from "./amount.tsx";

export const expected = (what: string) => `Expected: ${what}.`;
const matching = (pattern: RegExp, what: string) => (text: string) =>
  pattern.test(text) ? undefined : expected(what);

export const addressFault = matching(/^[0-9A-Za-z]{34}$/, "34 letters and digits");
export const idFault = matching(/^[0-9a-f]{64}$/, "64 hexadecimal digits");
export const publicKeyFault = matching(/^0[23][0-9a-f]{64}$/, "66 hexadecimal digits");
export const heightFault = matching(/^[1-9]\d{0,8}$/, "a number from 1");
export const amountFault = (text: string) =>
  unitsOf(text) === undefined ? expected("a number with up to 8 decimals") : undefined;
