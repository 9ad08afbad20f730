/** Reads what wallets hold, which has rows of its own (state.md 2.4). */
import {
  type Attributes,
  expandAttributes,
  type HoldingKind,
  type HoldingRow,
  hasCollections,
  holdingKey,
  type StateReader,
  shownText,
  type Wallet,
} from "@uniknode/ledger";
import type { Database } from "../engine/database.ts";

/**
 * Returns a function that returns the attributes of a wallet as responses show them, given its row.
 *
 * @param onRow called for each holding when it is read, and when it is shown: an exception ends the work
 */
export function createShownAttributes(
  database: Database,
  onRow?: () => void,
): (address: string, attributes: string) => string {
  const rows = database.prepare<HoldingRow>("SELECT kind, id, next, value FROM holdings WHERE address = ?");
  return (address, attributes) =>
    hasCollections(attributes) ? shownText(attributes, rows.iterate(address), onRow) : attributes;
}

/**
 * Maximum number of holdings of each kind in an event: larger collections are omitted. A full block can change 280 wallets, whose
 * holdings are read one by one: 26 ms of the consensus thread with 10 for each wallet, 224 ms with 100.
 */
const MAX_SHOWN = 10;

/** Returns a wallet as events show it, with what it holds. Costs at most `MAX_SHOWN` reads for each kind. */
export function withHoldings(state: Pick<StateReader, "get">, wallet: Wallet): Wallet {
  const { address, attributes } = wallet;
  const find = (kind: HoldingKind, id: string) => state.get("holdings", holdingKey(address, kind, id));
  return { ...wallet, attributes: expandAttributes(attributes, find, MAX_SHOWN) as Attributes };
}
