/** The transactions of a wallet: `/wallets/:id/transactions` and `/wallets/:id/votes` (http-api.md 6.5). */
import { Type } from "../../platform/json/schema.ts";
import type { ListDefinition } from "../../read/list-definition.ts";
import { RECEIVED_TRANSACTIONS, SENT_TRANSACTIONS, WALLET_TRANSACTIONS } from "../../read/lists.ts";
import type { Api } from "../core/api.ts";
import type { Server } from "../core/app.ts";
import { HEAD_ONLY } from "../core/head-cache.ts";
import { described, listOf } from "../documentation/route.ts";
import { transactionList } from "../lists/transactions.ts";
import { findWallet } from "../lists/wallets.ts";
import { listParameters } from "../requests/list-schemas.ts";
import { pageQuery } from "../requests/pagination.ts";
import { query, transformQuery, walletId } from "../requests/parameters.ts";
import { AnyTransaction } from "../responses/transaction.ts";
import { VOTE } from "./votes.ts";

const queryOf = <L extends ListDefinition>(list: L) =>
  query({ ...pageQuery, ...transformQuery, ...listParameters(list) });

const params = Type.Object({ id: walletId });

export function addWalletTransactions(app: Server, api: Api): void {
  addAll(app, api);
  addSent(app, api);
  addReceived(app, api);
  addVotes(app, api);
}

function addAll(app: Server, api: Api): void {
  app.get(
    "/wallets/:id/transactions",
    {
      config: HEAD_ONLY,
      schema: {
        ...described(
          "Wallets",
          "Lists the transactions of a wallet, sent and received, newest first.",
          listOf(AnyTransaction),
        ),
        params,
        querystring: queryOf(WALLET_TRANSACTIONS),
      },
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const { orderBy, ...filter } = request.query;
        const participant = (await findWallet(snapshot, request.params.id)).address;
        return transactionList(api, snapshot, request, { ...filter, participant }, { orderBy });
      }),
  );
}

function addSent(app: Server, api: Api): void {
  app.get(
    "/wallets/:id/transactions/sent",
    {
      config: HEAD_ONLY,
      schema: {
        ...described("Wallets", "Lists the transactions that a wallet sent.", listOf(AnyTransaction)),
        params,
        querystring: queryOf(SENT_TRANSACTIONS),
      },
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const { orderBy, ...filter } = request.query;
        const senderId = (await findWallet(snapshot, request.params.id)).address;
        return transactionList(api, snapshot, request, { ...filter, senderId }, { orderBy });
      }),
  );
}

function addReceived(app: Server, api: Api): void {
  app.get(
    "/wallets/:id/transactions/received",
    {
      config: HEAD_ONLY,
      schema: {
        ...described("Wallets", "Lists the transactions that a wallet received.", listOf(AnyTransaction)),
        params,
        querystring: queryOf(RECEIVED_TRANSACTIONS),
      },
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const { orderBy, ...filter } = request.query;
        const recipientId = (await findWallet(snapshot, request.params.id)).address;
        return transactionList(api, snapshot, request, { ...filter, recipientId }, { orderBy });
      }),
  );
}

function addVotes(app: Server, api: Api): void {
  app.get(
    "/wallets/:id/votes",
    {
      config: HEAD_ONLY,
      schema: {
        ...described("Wallets", "Lists the votes of a wallet.", listOf(AnyTransaction)),
        params,
        querystring: query({ ...pageQuery, ...transformQuery }),
      },
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const senderId = (await findWallet(snapshot, request.params.id)).address;
        return transactionList(api, snapshot, request, { ...VOTE, senderId });
      }),
  );
}
