/** `/wallets` (http-api.md 6.5). */
import { Type } from "typebox";
import type { StoredWallet } from "../../read/sqlite/wallets.ts";
import { Lock } from "../answers/lock.ts";
import { AnyTransaction } from "../answers/transaction.ts";
import { TokenSummary, tokenSummary } from "../answers/unik.ts";
import { SingleWallet, singleWalletAnswer, Wallet } from "../answers/wallet.ts";
import { chainmetaMember, described, listOf, single } from "../documentation/route.ts";
import { lockList, lockOrder } from "../lists/locks.ts";
import {
  nonceQuery,
  recipientQuery,
  senderQuery,
  transactionList,
  transactionListQuery,
  typeGroupQuery,
  typeQuery,
} from "../lists/transactions.ts";
import { walletList, walletListQuery, walletOrder } from "../lists/wallets.ts";
import { body, distinct, interval, intValue, uintValue } from "../requests/bodies.ts";
import { listAnswer, pageOf, pageQuery } from "../requests/pagination.ts";
import {
  address,
  bool,
  publicKey,
  query,
  transformQuery,
  username,
  walletId,
} from "../requests/parameters.ts";
import { HttpError, notFound } from "../server/error.ts";
import type { Api, Resource } from "./api.ts";
import { TOKEN_NAMES, TOKEN_ORDER, tokenOrderOf } from "./uniks.ts";
import { VOTE } from "./votes.ts";

const MAX_ADDRESSES = 50;
const searchBody = body({
  address: Type.Optional(address),
  addresses: Type.Optional(distinct(address, MAX_ADDRESSES)),
  publicKey: Type.Optional(publicKey),
  secondPublicKey: Type.Optional(publicKey),
  vote: Type.Optional(publicKey),
  username: Type.Optional(username),
  producedBlocks: Type.Optional(uintValue),
  balance: Type.Optional(interval(intValue)),
  voteBalance: Type.Optional(interval(uintValue)),
  lockedBalance: Type.Optional(interval(uintValue)),
});

const transactionsQuery = { ...transactionListQuery, ...typeQuery, ...typeGroupQuery, ...nonceQuery };

const params = Type.Object({ id: walletId });

export const wallets: Resource = (app, api) => {
  const { queries, read, chainmeta } = api;

  app.get(
    "/wallets",
    {
      schema: {
        ...described("Wallets", "Wallets, richest first.", listOf(Wallet, chainmetaMember)),
        querystring: query(walletListQuery),
      },
    },
    (request) =>
      read((head) => ({
        ...walletList(api, head, request, request.query, request.query.orderBy),
        ...chainmeta(head),
      })),
  );

  app.get(
    "/wallets/top",
    {
      schema: {
        ...described("Wallets", "Wallets, richest first whatever else is asked.", listOf(Wallet)),
        querystring: query(walletListQuery),
      },
    },
    (request) => read((head) => walletList(api, head, request, request.query)),
  );

  app.post(
    "/wallets/search",
    {
      schema: {
        ...described("Wallets", "Search of wallets.", listOf(Wallet)),
        querystring: query({ ...pageQuery, orderBy: walletOrder }),
        body: searchBody,
      },
    },
    (request) => read((head) => walletList(api, head, request, request.body, request.query.orderBy)),
  );

  app.get(
    "/wallets/:id",
    {
      schema: {
        ...described(
          "Wallets",
          "One wallet, by address, public key or username.",
          single(SingleWallet, chainmetaMember),
        ),
        params,
      },
    },
    (request) =>
      read((head) => ({ data: singleWalletAnswer(findWallet(api, request.params.id)), ...chainmeta(head) })),
  );

  app.get(
    "/wallets/:id/transactions",
    {
      schema: {
        ...described(
          "Wallets",
          "Transactions that a wallet takes part in, newest first.",
          listOf(AnyTransaction),
        ),
        params,
        querystring: query(transactionsQuery),
      },
    },
    (request) =>
      read((head) => {
        const { orderBy, ...filter } = request.query;
        const participant = findWallet(api, request.params.id).address;
        return transactionList(api, head, request, { ...filter, participant }, { orderBy });
      }),
  );

  app.get(
    "/wallets/:id/transactions/sent",
    {
      schema: {
        ...described("Wallets", "Transactions that a wallet sent.", listOf(AnyTransaction)),
        params,
        querystring: query({ ...transactionsQuery, ...recipientQuery }),
      },
    },
    (request) =>
      read((head) => {
        const { orderBy, ...filter } = request.query;
        const senderId = findWallet(api, request.params.id).address;
        return transactionList(api, head, request, { ...filter, senderId }, { orderBy });
      }),
  );

  app.get(
    "/wallets/:id/transactions/received",
    {
      schema: {
        ...described("Wallets", "Transactions that a wallet received.", listOf(AnyTransaction)),
        params,
        querystring: query({ ...transactionsQuery, ...senderQuery }),
      },
    },
    (request) =>
      read((head) => {
        const { orderBy, ...filter } = request.query;
        const recipientId = findWallet(api, request.params.id).address;
        return transactionList(api, head, request, { ...filter, recipientId }, { orderBy });
      }),
  );

  app.get(
    "/wallets/:id/votes",
    {
      schema: {
        ...described("Wallets", "Votes that a wallet sent.", listOf(AnyTransaction)),
        params,
        querystring: query({ ...pageQuery, ...transformQuery }),
      },
    },
    (request) =>
      read((head) => {
        const senderId = findWallet(api, request.params.id).address;
        return transactionList(api, head, request, { ...VOTE, senderId });
      }),
  );

  app.get(
    "/wallets/:id/locks",
    {
      schema: {
        ...described("Wallets", "Open locks that a wallet made.", listOf(Lock)),
        params,
        querystring: query({ ...pageQuery, orderBy: lockOrder, isExpired: Type.Optional(bool) }),
      },
    },
    (request) =>
      read((head) => {
        const { address } = findWallet(api, request.params.id);
        return lockList(api, head, request, queries.locks.of(address), request.query);
      }),
  );

  for (const name of TOKEN_NAMES) {
    const querystring = query({ ...pageQuery, orderBy: Type.Optional(Type.String(TOKEN_ORDER)) });
    const schema = {
      ...described("Wallets", "Uniks that a wallet owns.", listOf(TokenSummary, chainmetaMember)),
      params,
      querystring,
    };
    // Nobody's tokens are an empty list.
    app.get(`/wallets/:id/${name}s`, { schema, config: { mayMiss: false } }, (request) => {
      const page = pageOf(request.query);
      return read((head) => {
        // Address, public key or username: whoever it is, the tokens are those of its address.
        const wallet = queries.wallets.find(request.params.id);
        const filter = { ownerId: wallet?.address ?? request.params.id };
        const { rows, ...found } = queries.tokens.list(head, filter, tokenOrderOf(request.query), page);
        const data = rows.map((token) => tokenSummary(token, name));
        return { ...listAnswer(request, page, { rows: data, ...found }), ...chainmeta(head) };
      });
    });
  }
  // Tokens of other names are refused before anybody looks for the wallet (http-api.md 13 point 7).
  app.get("/wallets/:id/:name(^.+s$)", { schema: { hide: true } }, () => {
    throw new HttpError(
      422,
      `the tokens of a wallet are ${TOKEN_NAMES.map((name) => `${name}s`).join(" or ")}`,
    );
  });
};

function findWallet({ queries }: Api, id: string): StoredWallet {
  const wallet = queries.wallets.find(id);
  if (!wallet) throw notFound("Wallet");
  return wallet;
}
