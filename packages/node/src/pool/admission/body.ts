/** The body of `POST /transactions` as a whole, before any of its transactions is processed (pool.md 3). */
import type { BatchOptions, SchemaViolation } from "@uniknode/protocol";
import { type AdmissionResult, BodyError } from "../../gateway/gateway.ts";
import { BatchError } from "./batch.ts";

export type BodyPool = {
  submit(items: readonly unknown[], batch: BatchOptions): Promise<AdmissionResult>;
};

/**
 * Submits the items of a body to the pool.
 *
 * @param max items of one body
 * @throws {BodyError} when the body as a whole fails the schema: nothing was processed
 */
export async function submitBody(
  pool: BodyPool,
  transactions: readonly unknown[],
  max: number,
): Promise<AdmissionResult> {
  const { length } = transactions;
  if (length < 1 || length > max) {
    throw new BodyError(`"transactions" must have from 1 to ${max} items, not ${length}`);
  }
  try {
    return await pool.submit(transactions, { isCoreWithoutGroup: true });
  } catch (error) {
    throw error instanceof BatchError ? new BodyError(violationText(error.violation)) : error;
  }
}

function violationText({ path, expectation }: SchemaViolation): string {
  const names = path.split("/").map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  return `"transactions${names.join(".")}" ${expectation}`;
}
