/** Checks the items of a submission as a whole before any of them is processed (pool.md 3). */

import { matchesBatchSchema, type SchemaViolation, type TransactionContext } from "@uniknode/protocol";
import { CodedError } from "../../platform/coded-error.ts";
import type { Steps } from "../../platform/threads/time-slices.ts";

/** Nothing of the submission was processed. */
export class BatchError extends CodedError<"BATCH_SCHEMA"> {
  readonly violation: SchemaViolation;

  constructor(violation: SchemaViolation) {
    super("BATCH_SCHEMA", `the item at ${violation.path} ${violation.expectation}`, { isRetryable: false });
    this.violation = violation;
  }
}

/**
 * Checks an item in each step.
 *
 * @throws {BatchError} with the first violation
 */
export function* checkBatch(items: readonly unknown[], context: TransactionContext): Steps<void> {
  for (const [index, item] of items.entries()) {
    const violation = matchesBatchSchema([item], context);
    if (violation) throw new BatchError({ ...violation, path: violation.path.replace("/0", `/${index}`) });
    yield;
  }
}
