/** The transactions of a wallet: `/wallets/:id/transactions` and `/wallets/:id/votes` (http-api.md 6.5). */
import { Type } from "../../platform/json/schema.ts";
import { RECEIVED_TRANSACTIONS, SENT_TRANSACTIONS, WALLET_TRANSACTIONS } from "../../read/lists.ts";
import type { Api } from "../core/api.ts";
import type { Server } from "../core/app.ts";
import { EACH_BLOCK } from "../core/head-cache.ts";
import { described, listOf } from "../documentation/route.ts";
import { listParameters } from "../requests/list-schemas.ts";
import { pageQuery } from "../requests/pagination.ts";
import { query, transformQuery, walletId } from "../requests/parameters.ts";
import { AnyTransaction, transactionList } from "../responses/transaction.ts";
import { findAddress } from "../responses/wallet.ts";
import { VOTE } from "./votes.ts";

const params = Type.Object({ id: walletId });

type WalletList = {
  readonly list: typeof WALLET_TRANSACTIONS | typeof SENT_TRANSACTIONS | typeof RECEIVED_TRANSACTIONS;
  readonly sentence: string;
  /** Filter that gets the address of the wallet. */
  readonly role: "participant" | "senderId" | "recipientId";
};

const WALLET_LISTS: readonly WalletList[] = [
  {
    list: WALLET_TRANSACTIONS,
    sentence: "Lists the transactions of a wallet, sent and received, newest first.",
    role: "participant",
  },
  { list: SENT_TRANSACTIONS, sentence: "Lists the transactions that a wallet sent.", role: "senderId" },
  {
    list: RECEIVED_TRANSACTIONS,
    sentence: "Lists the transactions that a wallet received.",
    role: "recipientId",
  },
];

export function addWalletTransactions(app: Server, api: Api): void {
  for (const walletList of WALLET_LISTS) addList(app, api, walletList);
  addVotes(app, api);
}

function addList(app: Server, api: Api, { list, sentence, role }: WalletList): void {
  app.get(
    list.path.replace("{id}", ":id"),
    {
      config: EACH_BLOCK,
      schema: described("Wallets", sentence, listOf(AnyTransaction), {
        params,
        querystring: query({ ...pageQuery, ...transformQuery, ...listParameters(list) }),
      }),
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const { orderBy, ...filter } = request.query;
        const address = await findAddress(api, snapshot, request.params.id);
        return transactionList(api, snapshot, request, { ...filter, [role]: address }, { orderBy });
      }),
  );
}

function addVotes(app: Server, api: Api): void {
  app.get(
    "/wallets/:id/votes",
    {
      config: EACH_BLOCK,
      schema: described("Wallets", "Lists the votes of a wallet.", listOf(AnyTransaction), {
        params,
        querystring: query({ ...pageQuery, ...transformQuery }),
      }),
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const senderId = await findAddress(api, snapshot, request.params.id);
        return transactionList(api, snapshot, request, { ...VOTE, senderId });
      }),
  );
}
