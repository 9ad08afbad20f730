/** Earlier states as reads of a snapshot. */
import type { Head } from "../head.ts";
import type { PropertyRange } from "../page.ts";
import type { History, PastState } from "../port.ts";
import type { HistoryQueries } from "./tables/history.ts";

/** Makes a query a read of a snapshot, which fails when the snapshot has ended. */
export type Read = <Asked extends unknown[], Result>(
  query: (...asked: Asked) => Result,
) => (...asked: Asked) => Promise<Result>;

/** Reads of a snapshot; `timed` starts the time of a list. */
type Reads = { readonly read: Read; readonly timed: Read; readonly balances: History["balances"] };

export const createHistory = (head: Head, history: HistoryQueries, reads: Reads): History => ({
  since: reads.read(history.since),
  at: (height) => createPastState(head, history, height, reads),
  balances: reads.balances,
});

const createPastState = (
  head: Head,
  history: HistoryQueries,
  height: number,
  { read, timed }: Reads,
): PastState => ({
  height,
  wallets: {
    find: timed((id: string) => history.wallet(height, id)),
    hasSecondKey: timed((address: string) => history.hasSecondKey(height, address)),
  },
  tokens: {
    find: read((id: string) => history.token(height, id)),
    properties: timed((id: string, range: PropertyRange) => history.properties(head, height, id, range)),
    storedKeys: read((id: string, keys: readonly string[]) => {
      const isStored = (key: string) => history.property(height, id, key) !== undefined;
      return new Set(keys.filter(isStored));
    }),
    property: read((id: string, key: string) => history.property(height, id, key)),
  },
  delegates: { all: timed(() => history.delegates(height)) },
  totalSupply: read(() => history.totalSupply(height)),
});
