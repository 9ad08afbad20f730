/** All transaction types. */
import { TransactionError } from "../errors.ts";
import { coreTypes } from "./core/index.ts";
import { magistrateTypes } from "./magistrate/index.ts";
import { nftTypes } from "./nft/index.ts";
import type { TransactionType } from "./type.ts";
import { unsTypes } from "./uns/index.ts";

/** Transaction types in the order in which a batch tries them (transactions.md 8.2). */
export const transactionTypes: readonly TransactionType[] = [
  ...coreTypes,
  ...nftTypes,
  ...unsTypes,
  ...magistrateTypes,
];

const byNumbers = new Map(transactionTypes.map((type) => [`${type.typeGroup}/${type.type}`, type]));

/** The type with a group and a number, if it is registered. */
export const findTransactionType = (typeGroup: number, type: number): TransactionType | undefined =>
  byNumbers.get(`${typeGroup}/${type}`);

/**
 * Key of a type in configurations and fee tables (transactions.md 6.1).
 *
 * @throws {TransactionError} UnkownTransactionError
 */
export function transactionKey(typeGroup: number, type: number): string {
  const found = findTransactionType(typeGroup, type);
  if (!found) throw unknownType(typeGroup, type);
  return found.key;
}

export const unknownType = (typeGroup: unknown, type: unknown): TransactionError =>
  new TransactionError("UnkownTransactionError", `no transaction type is registered as ${typeGroup}/${type}`);
