/** The owner of the webhooks, as the database of the workers stores it. */
import { present } from "../../../platform/present.ts";
import type { Query, Transaction } from "../../../postgres/connection.ts";
import {
  nextOwner,
  type Owner,
  type OwnerChange,
  OwnerError,
  type OwnerState,
} from "../../hand-over/owner.ts";

type OwnerRow = { owner: OwnerState; transfer: string | null };

export const readOwner = (query: Query): Promise<Owner> => select(query, "");

/**
 * Changes the owner. Waits for all transactions that have locked it, and blocks them until the end of this one.
 *
 * @throws {OwnerError} if the change does not continue from the current state
 */
export async function changeOwner({ query, change }: Transaction, next: OwnerChange): Promise<Owner> {
  const current = await select(query, "FOR UPDATE");
  const owner = nextOwner(current, next);
  if (owner !== current)
    await change("UPDATE webhook_register SET owner = $1, transfer = $2, version = version + 1", [
      owner.state,
      owner.transfer ?? null,
    ]);
  return owner;
}

/**
 * Checks that a change was not made yet, by this command or another one.
 *
 * @param lock `FOR UPDATE`: the state stays until the end of the transaction
 * @throws {OwnerError} if the change does not continue from the current state
 */
export async function requireOwner(
  query: Query,
  next: OwnerChange,
  lock: "" | "FOR UPDATE" = "",
): Promise<void> {
  const owner = await select(query, lock);
  if (owner.state !== next.from || owner.transfer !== next.transfer) throw new OwnerError(owner, next);
}

/** Returns the owner, which stays until the end of the transaction. Does not conflict with changes of the version. */
export const lockOwner = ({ query }: Transaction): Promise<Owner> => select(query, "FOR KEY SHARE");

async function select(query: Query, lock: "" | "FOR UPDATE" | "FOR KEY SHARE"): Promise<Owner> {
  const [row] = await query<OwnerRow>(`SELECT owner, transfer FROM webhook_register ${lock}`);
  const { owner: state, transfer } = present(row, "the row of the register");
  return { state, transfer: transfer ?? undefined };
}
