/** `/transactions` (http-api.md 6.4). */
import { transactionToJson } from "@uniknode/protocol";
import { Type } from "typebox";
import { type Head, perHead } from "../store/queries/snapshot.ts";
import {
  type StoredTransaction,
  TRANSACTION_ORDERS,
  type TransactionOrder,
} from "../store/queries/transactions.ts";
import { missionTransactionAnswer, type TransactionJson, transactionAnswer } from "./answers/transaction.ts";
import type { Api, Resource } from "./api.ts";
import { listAnswer, pageOf, pageQuery } from "./requests/pagination.ts";
import {
  address,
  blockId,
  hex64,
  orderBy,
  orderOf,
  positive,
  publicKey,
  query,
  transformQuery,
  uint,
  vendorField,
  wantsTransform,
} from "./requests/parameters.ts";
import { notFound } from "./transport/error.ts";

const listQuery = query({
  ...pageQuery,
  ...transformQuery,
  orderBy: Type.Optional(orderBy(...TRANSACTION_ORDERS)),
  id: Type.Optional(hex64),
  blockId: Type.Optional(blockId),
  type: Type.Optional(uint),
  typeGroup: Type.Optional(uint),
  version: Type.Optional(positive),
  senderPublicKey: Type.Optional(publicKey),
  senderId: Type.Optional(address),
  recipientId: Type.Optional(address),
  timestamp: Type.Optional(uint),
  nonce: Type.Optional(uint),
  amount: Type.Optional(uint),
  fee: Type.Optional(uint),
  vendorField: Type.Optional(vendorField),
});

const DEFAULT_ORDER: TransactionOrder = { field: "timestamp", direction: "desc" };

const params = Type.Object({ id: hex64 });
const submission = Type.Object({ transactions: Type.Array(Type.Unknown()) }, { additionalProperties: false });

export const transactions: Resource = (app, api) => {
  const { gateway, queries, read, chainmeta } = api;
  const names = createDisclosedNames(api);

  app.get("/transactions", { schema: { querystring: listQuery } }, (request) => {
    const page = pageOf(request.query);
    const { type, typeGroup } = request.query;
    // A type without a group is one of the core's.
    const filter = { ...request.query, ...(type !== undefined && { typeGroup: typeGroup ?? "1" }) };
    return read((head) => {
      const { rows, totalCount } = queries.transactions.list(filter, transactionOrderOf(request.query), page);
      const data = rows.map((row) => ({
        ...show(api, head, row, request.query),
        ...(wantsTransform(request.query) && names(head, row)),
      }));
      return listAnswer(request, page, { rows: data, totalCount });
    });
  });

  // Whatever the pool thinks of the transactions, the request itself succeeded.
  app.post("/transactions", { schema: { body: submission } }, (request) =>
    gateway.submit(request.body.transactions),
  );

  app.get(
    "/transactions/unconfirmed",
    { schema: { querystring: query({ ...pageQuery, ...transformQuery }) } },
    async (request) => {
      const page = pageOf(request.query);
      const pending = await gateway.pendingTransactions({ offset: page.offset, limit: page.limit });
      const rows = pending.transactions.map((json) => showPending(api, json, request.query));
      return listAnswer(request, page, { rows, totalCount: pending.totalCount });
    },
  );

  app.get(
    "/transactions/unconfirmed/:id",
    { schema: { params, querystring: query(transformQuery) } },
    async (request) => {
      const pending = await gateway.pendingTransaction(request.params.id);
      if (!pending) throw notFound("Transaction");
      return { data: showPending(api, pending, request.query) };
    },
  );

  app.get("/transactions/:id", { schema: { params, querystring: query(transformQuery) } }, (request) =>
    read((head) => {
      const found = queries.transactions.byId(request.params.id);
      if (!found) throw notFound("Transaction");
      return { data: show(api, head, found, request.query, missionTransactionAnswer), ...chainmeta(head) };
    }),
  );
};

const transactionOrderOf = ({ orderBy }: { orderBy?: string }): TransactionOrder =>
  (orderOf(orderBy) as TransactionOrder | undefined) ?? DEFAULT_ORDER;

/** A confirmed transaction, transformed unless that is not wanted. */
function show(
  api: Api,
  head: Head,
  { transaction, blockId, height, timestamp, nonce }: StoredTransaction,
  wanted: { transform?: string },
  encode: typeof missionTransactionAnswer = (answer) => answer,
) {
  const json = transactionToJson(transaction) as TransactionJson;
  if (!wantsTransform(wanted)) return json;
  const place = { blockId, timestamp, nonce, confirmations: head.height - height + 1 };
  return encode(transactionAnswer(json, place, api));
}

const showPending = (api: Api, json: Record<string, unknown>, wanted: { transform?: string }) =>
  wantsTransform(wanted) ? transactionAnswer(json as TransactionJson, undefined, api) : json;

/** The member `unikname` of votes for a delegate whose unik has disclosed a name. */
function createDisclosedNames({ queries }: Api) {
  const byPublicKey = perHead(
    (head) =>
      new Map(queries.delegates.all(head).map(({ publicKey, explicitName }) => [publicKey, explicitName])),
  );
  return (head: Head, { transaction }: StoredTransaction): { unikname?: string } => {
    const vote = transaction.asset?.votes?.[0]?.slice(1);
    const unikname = vote === undefined ? undefined : byPublicKey(head).get(vote);
    return unikname === undefined ? {} : { unikname };
  };
}
