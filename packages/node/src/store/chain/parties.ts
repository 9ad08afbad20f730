/** Numbers of the senders and recipients of transactions. */
import type { DictionaryTable } from "../engine/dictionary.ts";

/** Public keys. */
export const SENDERS: DictionaryTable = {
  table: "senders",
  column: "public_key",
  isHex: true,
  maxLength: 66,
};
/** Addresses. */
export const RECIPIENTS: DictionaryTable = {
  table: "recipients",
  column: "address",
  isHex: false,
  maxLength: 35,
};
