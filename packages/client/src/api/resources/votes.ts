/** `/votes`: transactions that vote by the rules of the Unikname Network (http-api.md 6.8). */

import { createList } from "../list.ts";
import type { VoteFilter } from "../list-filters.ts";
import { path } from "../request.ts";
import type { ApiResponse, Transformed, TransformQuery } from "../responses.ts";
import type { Send } from "../send.ts";
import type { RawTransaction, Transaction, TransactionQuery } from "./transactions.ts";

export const votes = (send: Send) => ({
  list: <const Q extends TransactionQuery<VoteFilter>>(query?: Q) =>
    createList<Transformed<Q, Transaction, RawTransaction>>(send, { path: "/votes", query }),

  get: <const Q extends TransformQuery>(id: string, query?: Q) =>
    send<ApiResponse<Transformed<Q, Transaction, RawTransaction>>>({ path: path`/votes/${id}`, query }),
});
