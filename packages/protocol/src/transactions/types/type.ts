/** The definition of a transaction type for the codec and the schema (transactions.md 6 and 8). */
import type { ByteReader, ByteWriter } from "../../bytes/cursor.ts";
import type { TransactionBody } from "../transaction.ts";

/** JSON Schema (draft-07) of a member; `u63` and the other keywords of transactions are in `schema.ts`. */
export type MemberSchema = Record<string, unknown>;

/** Rules of a type beyond those common to all (transactions.md 8.3). */
export type TypeSchema = {
  /** Schemas by member; they replace the common ones of the same name. */
  properties: Record<string, MemberSchema>;
  /** Members required beyond the common ones. */
  required?: readonly string[];
};

/** A transaction type. */
export type TransactionType = {
  readonly typeGroup: number;
  readonly type: number;
  /** transactions.md 6.1. */
  readonly key: string;
  /** True if the type carries a vendorField (transactions.md 4). */
  readonly hasVendorField?: true;
  /** True if the recipient's network byte is compared while the id is computed (transactions.md 6.2). */
  readonly checksRecipientNetwork?: true;
  readonly schema: TypeSchema;
  /** A form of version 1 that the check of batches accepts too (transactions.md 8.2). */
  readonly legacySchema?: TypeSchema;
  /**
   * Writes the payload (transactions.md 6.3 to 6.7). The version decides where version 1 differs.
   *
   * @throws {Error} on input that the schema accepts but that cannot be encoded (transactions.md 9)
   */
  write(transaction: TransactionBody, writer: ByteWriter): void;
  /** Reads the members of the payload (amount, recipientId, expiration, asset). */
  read(reader: ByteReader, version: number): Partial<TransactionBody>;
  /** Static fee of the type if the milestone has none (transactions.md 13), smallest unit. */
  staticFee(transaction: TransactionBody): bigint;
  /** Multiple of the static fee that is due; 1 if absent. */
  feeUnits?(transaction: TransactionBody): bigint;
};
