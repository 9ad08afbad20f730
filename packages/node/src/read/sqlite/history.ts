/** Earlier states as reads of a snapshot. */
import type { History, PastState } from "../port.ts";
import type { HistoryQueries } from "./tables/history.ts";

/** Makes a query a read of a snapshot, which fails when the snapshot has ended. */
export type Read = <Asked extends unknown[], Result>(
  query: (...asked: Asked) => Result,
) => (...asked: Asked) => Promise<Result>;

/** @param balances `history.balances` as a read of the snapshot */
export const createHistory = (
  history: HistoryQueries,
  read: Read,
  balances: History["balances"],
): History => ({
  since: read(history.since),
  at: (height) => createPastState(height, history, read),
  balances,
});

const createPastState = (height: number, history: HistoryQueries, read: Read): PastState => ({
  height,
  wallets: {
    find: read((id: string) => history.wallet(height, id)),
    hasSecondKey: read((address: string) => history.hasSecondKey(height, address)),
  },
  tokens: {
    find: read((id: string) => history.token(height, id)),
    properties: read((id: string) => history.properties(height, id)),
    property: read((id: string, key: string) => history.property(height, id, key)),
  },
  delegates: { all: read(() => history.delegates(height)) },
  totalSupply: read(() => history.totalSupply(height)),
});
