/** `/transactions` (http-api.md 6.4): confirmed ones, and those of the pool. */

import type { PendingTransaction, PoolRange } from "../../gateway/gateway.ts";
import { siteGroup } from "../../platform/addresses.ts";
import { Type } from "../../platform/json/schema.ts";
import { TRANSACTIONS } from "../../read/lists.ts";
import { perSnapshot, type Snapshot } from "../../read/port.ts";
import type { Api, Resource } from "../core/api.ts";
import type { Server } from "../core/app.ts";
import { HttpError, notFound } from "../core/error.ts";
import { EACH_BLOCK } from "../core/head-cache.ts";
import { chainmetaMember, described, listOf, single } from "../documentation/route.ts";
import { body, listParameters, orderOfList, searchMembers } from "../requests/list-schemas.ts";
import { placeOf, readCursor } from "../requests/memory-list.ts";
import { listResponse, type Page, pageOf, pageQuery } from "../requests/pagination.ts";
import { hex64, query, transformQuery, vendorField, wantsTransform } from "../requests/parameters.ts";
import {
  AnyTransaction,
  type ListedExtras,
  pendingResponse,
  RawTransaction,
  rawPendingResponse,
  rawTransactionResponse,
  SingleTransaction,
  singleTransactionResponse,
  type TransactionExtras,
  transactionList,
} from "../responses/transaction.ts";
import { addTransactionProof } from "./proofs.ts";
import { VOTE } from "./votes.ts";

const listQuery = query({ ...pageQuery, ...transformQuery, ...listParameters(TRANSACTIONS) });
/** Wallet kits send the text as a parameter, and all other filters in the body. */
const searchQuery = query({ ...pageQuery, ...transformQuery, vendorField: Type.Optional(vendorField) });
const searchBody = body({ orderBy: orderOfList(TRANSACTIONS), ...searchMembers(TRANSACTIONS) });

const params = Type.Object({ id: hex64 });

/** Each row of a search is compared with all of the asset. */
const MAX_ASSET_CHARS = 1_024;

export const transactions: Resource = (app, api) => {
  addList(app, api);
  addSubmission(app, api);
  addSearch(app, api);
  addPending(app, api);
  addConfirmed(app, api);
  addTransactionProof(app, api);
};

function addList(app: Server, api: Api): void {
  const votedNames = createVotedNames();
  app.get(
    "/transactions",
    {
      config: EACH_BLOCK,
      schema: described("Transactions", "Lists transactions, newest first.", listOf(AnyTransaction), {
        querystring: listQuery,
      }),
    },
    (request) => {
      const { address, orderBy, ...others } = request.query;
      const filter = { ...others, ...(address !== undefined && { addresses: address.split(",") }) };
      return api.read(request, async (snapshot) =>
        transactionList(api, snapshot, request, filter, { orderBy, extras: await votedNames(snapshot) }),
      );
    },
  );
}

function addSearch(app: Server, api: Api): void {
  app.post(
    "/transactions/search",
    {
      schema: described("Transactions", "Searches transactions.", listOf(AnyTransaction), {
        querystring: searchQuery,
        body: searchBody,
      }),
    },
    (request) => {
      const { orderBy, ...members } = request.body;
      const { vendorField = request.query.vendorField, asset = {} } = members;
      if (JSON.stringify(asset).length > MAX_ASSET_CHARS) {
        throw new HttpError(
          "INVALID_MEMBER",
          `"asset" must have at most ${MAX_ASSET_CHARS} characters as JSON`,
        );
      }
      const filter = { ...members, ...(vendorField !== undefined && { vendorField }) };
      return api.read(request, (snapshot) => transactionList(api, snapshot, request, filter, { orderBy }));
    },
  );
}

function addConfirmed(app: Server, api: Api): void {
  app.get(
    "/transactions/:id",
    {
      config: EACH_BLOCK,
      schema: described(
        "Transactions",
        "Returns a confirmed transaction.",
        single(Type.Union([SingleTransaction, RawTransaction]), chainmetaMember),
        { params, querystring: query(transformQuery) },
      ),
    },
    (request) =>
      api.read(request, async ({ head, transactions }) => {
        const { id } = request.params;
        if (!wantsTransform(request.query)) {
          const signed = await transactions.signedById(id);
          if (!signed) throw notFound("TRANSACTION_UNKNOWN", "Transaction");
          return { data: rawTransactionResponse(signed), ...api.chainmeta(head) };
        }
        const found = await transactions.byId(id);
        if (!found) throw notFound("TRANSACTION_UNKNOWN", "Transaction");
        return { data: singleTransactionResponse(found, head.height, api), ...api.chainmeta(head) };
      }),
  );
}

/** Matches the asset of a vote, as JSON text. */
const VOTE_ASSET = /^\{"votes":\["[+-]([0-9a-f]+)"/;

/**
 * Adds the member `unikname` to votes for a delegate whose unik has disclosed a name. In the raw form, the old network
 * recognises votes by the type group, which core votes do not have there.
 */
function createVotedNames() {
  return perSnapshot(async ({ delegates }: Snapshot): Promise<ListedExtras> => {
    const all = await delegates.all();
    const names = new Map(all.map(({ publicKey, explicitName }) => [publicKey, explicitName]));
    const nameOf = (publicKey: string | undefined): TransactionExtras =>
      publicKey === undefined ? {} : { unikname: names.get(publicKey) };
    return {
      ofRow: ({ asset }) => nameOf(VOTE_ASSET.exec(asset ?? "")?.[1]),
      ofSigned: ({ typeGroup, type, asset }) =>
        typeGroup === VOTE.typeGroup && type === VOTE.type ? nameOf(asset?.votes?.[0]?.slice(1)) : {},
    };
  });
}

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

function addSubmission(app: Server, { gateway, poolMaxPerRequest }: Api): void {
  // The request succeeded even if the pool refused every transaction.
  app.post(
    "/transactions",
    {
      schema: described("Transactions", "Submits signed transactions.", Admission, {
        body: submissionOf(poolMaxPerRequest),
      }),
    },
    (request) => gateway.submit(request.body.transactions, siteGroup(request.ip)),
  );
}

function addPending(app: Server, api: Api): void {
  addPendingList(app, api);
  addPendingTransaction(app, api);
}

function addPendingList(app: Server, api: Api): void {
  app.get(
    "/transactions/unconfirmed",
    {
      schema: described(
        "Transactions",
        "Lists pending transactions, in forging order.",
        listOf(AnyTransaction),
        { querystring: query({ ...pageQuery, ...transformQuery }) },
      ),
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
      schema: described("Transactions", "Returns a pending transaction.", single(AnyTransaction), {
        params,
        // Other parameters are ignored here, as by every route without parameters of its own.
        querystring: Type.Object({
          transform: Type.Optional(
            Type.String({ description: "false: the transaction as it was submitted." }),
          ),
        }),
      }),
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
