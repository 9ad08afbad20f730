/** Transactions of the pool: `POST /transactions` and `/transactions/unconfirmed` (http-api.md 6.4). */
import type { PendingTransaction, PoolRange } from "../../gateway/gateway.ts";
import { siteGroup } from "../../platform/addresses/groups.ts";
import { Type } from "../../platform/json/schema.ts";
import type { Api } from "../core/api.ts";
import type { Server } from "../core/app.ts";
import { notFound } from "../core/error.ts";
import { described, listOf, single } from "../documentation/route.ts";
import { body } from "../requests/bodies.ts";
import { placeOf, readCursor } from "../requests/memory-list.ts";
import { listResponse, type Page, pageOf, pageQuery } from "../requests/pagination.ts";
import { hex64, query, transformQuery, wantsTransform } from "../requests/parameters.ts";
import { AnyTransaction, pendingResponse, rawPendingResponse } from "../responses/transaction.ts";

const params = Type.Object({ id: hex64 });

const submissionOf = (maxItems: number) =>
  body({
    transactions: Type.Array(
      Type.Object(
        {},
        {
          description:
            "A signed transaction, in the form of `GET /transactions/{id}?transform=false`; `GET /transactions/schemas` describes each type.",
        },
      ),
      { minItems: 1, maxItems },
    ),
  });

const ids = Type.Array(Type.String());
const Admission = Type.Object(
  {
    data: Type.Object({ accept: ids, broadcast: ids, excess: ids, invalid: ids }),
    errors: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.Object({ type: Type.String(), message: Type.String() })), {
        description: "Errors of refused transactions, by id.",
      }),
    ),
  },
  { title: "Admission" },
);

export function addSubmission(app: Server, { gateway, poolMaxPerRequest }: Api): void {
  // The request succeeded even if the pool refused every transaction.
  app.post(
    "/transactions",
    {
      schema: {
        ...described("Transactions", "Submits signed transactions.", Admission),
        body: submissionOf(poolMaxPerRequest),
      },
    },
    (request) => gateway.submit(request.body.transactions, siteGroup(request.ip)),
  );
}

export function addPending(app: Server, api: Api): void {
  addPendingList(app, api);
  addPendingTransaction(app, api);
}

function addPendingList(app: Server, api: Api): void {
  app.get(
    "/transactions/unconfirmed",
    {
      schema: {
        ...described("Transactions", "Lists pending transactions, in forging order.", listOf(AnyTransaction)),
        querystring: query({ ...pageQuery, ...transformQuery }),
      },
    },
    async (request) => {
      const page = pageOf(request.query);
      const pending = await api.gateway.pendingTransactions(rangeOf(page));
      const rows = pending.transactions.map((transaction) => showPending(api, transaction, request.query));
      const end = pending.offset + rows.length;
      const last = pending.transactions.at(-1);
      const next = last && end < pending.totalCount && placeOf(last.members.id, end - 1);
      return listResponse(request, page, { rows, totalCount: pending.totalCount, ...(next && { next }) });
    },
  );
}

function addPendingTransaction(app: Server, api: Api): void {
  app.get(
    "/transactions/unconfirmed/:id",
    {
      schema: {
        ...described("Transactions", "Returns a pending transaction.", single(AnyTransaction)),
        params,
        querystring: query(transformQuery),
      },
    },
    async (request) => {
      const pending = await api.gateway.pendingTransaction(request.params.id);
      if (!pending) throw notFound("TRANSACTION_UNKNOWN", "Transaction");
      return { data: showPending(api, pending, request.query) };
    },
  );
}

function rangeOf({ offset, limit, after }: Page): PoolRange {
  if (after === undefined) return { offset, limit };
  const [afterId, index] = readCursor(after);
  return { offset: index, limit, afterId };
}

const showPending = (api: Api, pending: PendingTransaction, wanted: { transform?: string }) =>
  wantsTransform(wanted) ? pendingResponse(pending, api) : rawPendingResponse(pending);
