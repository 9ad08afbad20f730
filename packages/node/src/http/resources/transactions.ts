import { Type } from "../../platform/json/schema.ts";
import { perSnapshot } from "../../read/head.ts";
import { TRANSACTIONS } from "../../read/lists.ts";
import type { Snapshot } from "../../read/port.ts";
import type { Api, Resource } from "../core/api.ts";
import type { Server } from "../core/app.ts";
import { notFound } from "../core/error.ts";
import { EACH_BLOCK } from "../core/head-cache.ts";
import { chainmetaMember, described, listOf, single } from "../documentation/route.ts";
import { body } from "../requests/bodies.ts";
import { listParameters, orderOfList, searchMembers } from "../requests/list-schemas.ts";
import { pageQuery } from "../requests/pagination.ts";
import { hex64, query, transformQuery, vendorField, wantsTransform } from "../requests/parameters.ts";
import {
  AnyTransaction,
  type ListedExtras,
  RawTransaction,
  rawTransactionResponse,
  SingleTransaction,
  singleTransactionResponse,
  type TransactionExtras,
  transactionList,
} from "../responses/transaction.ts";
import { addPending, addSubmission } from "./pending-transactions.ts";
import { addTransactionProof } from "./proofs.ts";
import { VOTE } from "./votes.ts";

const listQuery = query({ ...pageQuery, ...transformQuery, ...listParameters(TRANSACTIONS) });
/** Wallet kits send the text as a parameter, and all other filters in the body. */
const searchQuery = query({ ...pageQuery, ...transformQuery, vendorField: Type.Optional(vendorField) });
const searchBody = body({ orderBy: orderOfList(TRANSACTIONS), ...searchMembers(TRANSACTIONS) });

const params = Type.Object({ id: hex64 });

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
      schema: {
        ...described("Transactions", "Lists transactions, newest first.", listOf(AnyTransaction)),
        querystring: listQuery,
      },
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
      schema: {
        ...described("Transactions", "Searches transactions.", listOf(AnyTransaction)),
        querystring: searchQuery,
        body: searchBody,
      },
    },
    (request) => {
      const { orderBy, ...members } = request.body;
      const { vendorField = request.query.vendorField } = members;
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
      schema: {
        ...described(
          "Transactions",
          "Returns a confirmed transaction.",
          single(Type.Union([SingleTransaction, RawTransaction]), chainmetaMember),
        ),
        params,
        querystring: query(transformQuery),
      },
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
