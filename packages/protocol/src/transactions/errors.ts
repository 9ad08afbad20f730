/** Errors of transactions (transactions.md 16). */

export type TransactionErrorCode =
  /** No type has this group and number; from JSON only. The spelling is the network's. */
  | "UnkownTransactionError"
  /** The input or the decoded transaction breaks a rule of transactions.md 8. */
  | "TransactionSchemaError"
  /** The version is not the one in force (transactions.md 3.3). */
  | "TransactionVersionError"
  /** Two entries of `signatures` have the same index. */
  | "DuplicateParticipantInMultiSignatureError"
  /** Any other failure from bytes. */
  | "InvalidTransactionBytesError"
  /** The input passed the schema, but cannot be encoded (transactions.md 9). */
  | "TransactionEncodingError";

export type SchemaViolation = {
  /** JSON pointer of the member; empty for the transaction itself. */
  path: string;
  /** The keyword that it breaks. */
  rule: string;
  /** The requirement, in words that follow the name of the member: `must be 30`, `is required`. */
  expectation: string;
};

/** A retry with the same input under the same milestone fails again. */
export class TransactionError extends Error {
  readonly code: TransactionErrorCode;
  /** Schema errors only. */
  readonly violation: SchemaViolation | undefined;
  readonly isRetryable = false;

  constructor(
    code: TransactionErrorCode,
    message: string,
    { violation, ...options }: ErrorOptions & { violation?: SchemaViolation } = {},
  ) {
    super(message, options);
    this.name = "TransactionError";
    this.code = code;
    this.violation = violation;
  }
}

/** Two entries of `signatures` have the same index byte. */
export const duplicateParticipant = (index: number): TransactionError =>
  new TransactionError("DuplicateParticipantInMultiSignatureError", `participant ${index} has signed twice`);
