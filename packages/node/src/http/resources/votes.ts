/** `/votes` (http-api.md 6.8): transactions that vote by the network's own rules, without core votes. */

import { TYPE_GROUPS } from "@uniknode/protocol";
import { Type } from "../../platform/json/schema.ts";
import { present } from "../../platform/present.ts";
import { VOTES } from "../../read/lists.ts";
import type { Resource } from "../core/api.ts";
import { notFound } from "../core/error.ts";
import { EACH_BLOCK, HEAD_ONLY } from "../core/head-cache.ts";
import { described, listOf, single } from "../documentation/route.ts";
import { listParameters } from "../requests/list-schemas.ts";
import { pageQuery } from "../requests/pagination.ts";
import { hex64, query, transformQuery, wantsTransform } from "../requests/parameters.ts";
import {
  AnyTransaction,
  rawTransactionResponse,
  transactionList,
  transactionResponse,
} from "../responses/transaction.ts";

export const VOTE = { typeGroup: TYPE_GROUPS.uns, type: 5 } as const;

const listQuery = query({ ...pageQuery, ...transformQuery, ...listParameters(VOTES) });

export const votes: Resource = (app, api) => {
  app.get(
    "/votes",
    {
      config: EACH_BLOCK,
      schema: described("Votes", "Lists votes, newest first.", listOf(AnyTransaction), {
        querystring: listQuery,
      }),
    },
    (request) =>
      api.read(request, (snapshot) => {
        const { orderBy, ...filter } = request.query;
        return transactionList(api, snapshot, request, { ...filter, ...VOTE }, { orderBy });
      }),
  );

  app.get(
    "/votes/:id",
    {
      config: HEAD_ONLY,
      schema: described("Votes", "Returns a vote.", single(AnyTransaction), {
        params: Type.Object({ id: hex64 }),
        querystring: query(transformQuery),
      }),
    },
    (request) =>
      api.read(request, async ({ head, transactions }) => {
        const { id } = request.params;
        const found = await transactions.byId(id);
        if (found?.typeGroup !== VOTE.typeGroup || found.type !== VOTE.type)
          throw notFound("VOTE_UNKNOWN", "Vote");
        if (wantsTransform(request.query)) return { data: transactionResponse(found, head.height, api) };
        const signed = present(await transactions.signedById(id), "the signed form of a vote");
        return { data: rawTransactionResponse(signed) };
      }),
  );
};
