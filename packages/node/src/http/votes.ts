/** `/votes` (http-api.md 6.8): transactions that vote by the network's own rules. Votes of the core are none. */
import { Type } from "typebox";
import type { Resource } from "./api.ts";
import {
  recipientQuery,
  senderQuery,
  showTransaction,
  transactionList,
  transactionListQuery,
} from "./lists/transactions.ts";
import { hex64, query, transformQuery } from "./requests/parameters.ts";
import { notFound } from "./transport/error.ts";

export const VOTE = { typeGroup: 2001, type: 5 } as const;

const listQuery = query({ ...transactionListQuery, ...senderQuery, ...recipientQuery });

export const votes: Resource = (app, api) => {
  const { queries, read } = api;

  app.get("/votes", { schema: { querystring: listQuery } }, (request) =>
    read((head) => {
      const { orderBy, ...filter } = request.query;
      return transactionList(api, head, request, { ...filter, ...VOTE }, { orderBy });
    }),
  );

  app.get(
    "/votes/:id",
    { schema: { params: Type.Object({ id: hex64 }), querystring: query(transformQuery) } },
    (request) =>
      read((head) => {
        const found = queries.transactions.byId(request.params.id);
        const { typeGroup, type } = found?.transaction ?? {};
        if (!found || typeGroup !== VOTE.typeGroup || type !== VOTE.type) throw notFound("Vote");
        return { data: showTransaction(api, head, found, request.query) };
      }),
  );
};
