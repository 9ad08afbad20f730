/** Version of the register: it changes whenever the active webhooks, or the owner of any, may have changed. */
import { CodedError } from "../../platform/coded-error.ts";
import { present } from "../../platform/present.ts";
import type { Transaction } from "../../postgres/connection.ts";
import type { OwnerState } from "../hand-over/owner.ts";

/** Increments the version, and locks it for all others until the end of the transaction. */
export async function bumpVersion({ change }: Transaction): Promise<void> {
  await change("UPDATE webhook_register SET version = version + 1");
}

/**
 * Increments the version while the webhooks have a state, which then stays until the end of the transaction.
 *
 * @throws {CodedError} OWNER_CHANGED if they have another state
 */
export async function bumpVersionWhile({ change }: Transaction, state: OwnerState): Promise<void> {
  const bumped = await change("UPDATE webhook_register SET version = version + 1 WHERE owner = $1", [state]);
  if (bumped > 0) return;
  throw new CodedError("OWNER_CHANGED", "the webhooks were handed over meanwhile", { isRetryable: true });
}

/**
 * Returns the version, which stays until the end of the transaction.
 *
 * @param isChanging true if the transaction will call `bumpVersion`: a shared lock could not be extended while others have one
 */
export async function lockVersion({ query }: Transaction, isChanging = false): Promise<number> {
  const [row] = await query<{ version: string }>(
    `SELECT version FROM webhook_register FOR ${isChanging ? "NO KEY UPDATE" : "SHARE"}`,
  );
  return Number(present(row, "the row of the register").version);
}
