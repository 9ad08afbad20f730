/** Version of the register: it changes whenever the active webhooks, or the owner of any, may have changed. */
import { present } from "../../platform/present.ts";
import type { Transaction } from "../../postgres/connection.ts";

/** Increments the version, and locks it for all others until the end of the transaction. */
export async function bumpVersion({ change }: Transaction): Promise<void> {
  await change("UPDATE webhook_register SET version = version + 1");
}

/**
 * Returns the version, which stays until the end of the transaction.
 *
 * @param isChanging true if the transaction will call `bumpVersion`: a shared lock could not be extended while others have one
 */
export async function lockVersion({ query }: Transaction, isChanging = false): Promise<number> {
  const [row] = await query<{ version: string }>(
    `SELECT version FROM webhook_register FOR ${isChanging ? "UPDATE" : "SHARE"}`,
  );
  return Number(present(row, "the row of the register").version);
}
