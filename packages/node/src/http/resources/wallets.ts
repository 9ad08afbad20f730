/** `/wallets` (http-api.md 6.5). */
import { Type } from "../../platform/json/schema.ts";
import { BALANCES, RICHEST_WALLETS, WALLET_LOCKS, WALLETS } from "../../read/lists.ts";
import type { Api, Resource } from "../core/api.ts";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import { EACH_BLOCK, HEAD_ONLY } from "../core/head-cache.ts";
import { amount, Timestamp } from "../core/values.ts";
import { chainmetaMember, described, listOf, single } from "../documentation/route.ts";
import { listParameters, searchSchemas } from "../requests/list-schemas.ts";
import { listResponse, pageOf, pageQuery } from "../requests/pagination.ts";
import { orderOf, query, walletId } from "../requests/parameters.ts";
import { atQuery, openHistory, PAST_REFUSALS, pastState } from "../requests/past-state.ts";
import { Lock, lockList } from "../responses/lock.ts";
import { type TokenName, TokenSummary, tokenSummary } from "../responses/unik.ts";
import {
  findAddress,
  findWallet,
  SingleWallet,
  singleWalletResponse,
  toWalletId,
  Wallet,
  walletList,
} from "../responses/wallet.ts";
import { TOKEN_NAMES, TOKEN_ORDER, tokenOrderOf } from "./uniks.ts";
import { addWalletTransactions } from "./wallet-transactions.ts";

const listQuery = query({ ...pageQuery, ...listParameters(WALLETS) });
const search = searchSchemas(WALLETS);
const locksQuery = query({ ...pageQuery, ...listParameters(WALLET_LOCKS) });

const params = Type.Object({ id: walletId });

const Balance = Type.Object(
  { height: Type.Integer({ minimum: 1 }), timestamp: Timestamp, balance: amount },
  { title: "Balance", description: "Balance of a wallet after a block." },
);

export const wallets: Resource = (app, api) => {
  addList(app, api);
  addRichestFirst(app, api);
  addSearch(app, api);
  addWallet(app, api);
  addWalletHistory(app, api);
  addWalletTransactions(app, api);
  addLocks(app, api);
  for (const name of TOKEN_NAMES) addTokens(app, api, name);
  refuseOtherTokens(app);
};

function addList(app: Server, api: Api): void {
  app.get(
    "/wallets",
    {
      config: EACH_BLOCK,
      schema: described("Wallets", "Lists wallets, richest first.", listOf(Wallet, chainmetaMember), {
        querystring: listQuery,
      }),
    },
    (request) =>
      api.read(request, async (snapshot) => ({
        ...(await walletList(snapshot, request, request.query, request.query.orderBy)),
        ...api.chainmeta(snapshot.head),
      })),
  );
}

function addRichestFirst(app: Server, api: Api): void {
  app.get(
    "/wallets/top",
    {
      config: HEAD_ONLY,
      schema: described("Wallets", "Lists wallets, always richest first.", listOf(Wallet), {
        querystring: query({ ...pageQuery, ...listParameters(RICHEST_WALLETS) }),
      }),
    },
    (request) => api.read(request, (snapshot) => walletList(snapshot, request, request.query)),
  );
}

function addSearch(app: Server, api: Api): void {
  app.post(
    "/wallets/search",
    {
      schema: described("Wallets", "Searches wallets.", listOf(Wallet), search),
    },
    (request) =>
      api.read(request, (snapshot) => walletList(snapshot, request, request.body, request.query.orderBy)),
  );
}

function addWallet(app: Server, api: Api): void {
  app.get(
    "/wallets/:id",
    {
      config: EACH_BLOCK,
      schema: described(
        "Wallets",
        "Returns a wallet by address, public key or username; with `at`, as it was after the block of this height.",
        single(SingleWallet, chainmetaMember),
        { params, querystring: atQuery },
        PAST_REFUSALS,
      ),
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const state = (await pastState(snapshot, request.query)) ?? snapshot;
        const wallet = await findWallet(api, state, request.params.id);
        return { data: singleWalletResponse(wallet), ...api.chainmeta(snapshot.head) };
      }),
  );
}

function addLocks(app: Server, api: Api): void {
  app.get(
    "/wallets/:id/locks",
    {
      config: HEAD_ONLY,
      schema: described("Wallets", "Lists the open locks that a wallet created.", listOf(Lock), {
        params,
        querystring: locksQuery,
      }),
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const address = await findAddress(api, snapshot, request.params.id);
        return lockList(api, snapshot.head, request, await snapshot.locks.of(address), request.query);
      }),
  );
}

function addTokens(app: Server, api: Api, name: TokenName): void {
  const querystring = query({ ...pageQuery, orderBy: Type.Optional(Type.String(TOKEN_ORDER)) });
  const schema = described(
    "Wallets",
    "Lists the uniks that a wallet owns.",
    listOf(TokenSummary, chainmetaMember),
    { params, querystring },
  );
  // An unknown wallet has an empty list of tokens.
  app.get(`/wallets/:id/${name}s`, { schema, config: { mayMiss: false, ...EACH_BLOCK } }, (request) => {
    const page = pageOf(request.query);
    return api.read(request, async ({ head, tokens, wallets }) => {
      // The id is an address, public key or username; tokens belong to the address.
      const id = toWalletId(api, request.params.id);
      const ownerId = (await wallets.address(id)) ?? id;
      const { rows, ...found } = await tokens.list({ ownerId }, tokenOrderOf(request.query), page);
      const data = rows.map((token) => tokenSummary(token, name));
      return { ...listResponse(request, page, { rows: data, ...found }), ...api.chainmeta(head) };
    });
  });
}

/** Refuses tokens of other names before the wallet is read (http-api.md 13 point 7). */
function refuseOtherTokens(app: Server): void {
  app.get("/wallets/:id/:name(^.+s$)", { schema: { hide: true } }, () => {
    throw new HttpError(
      "TOKEN_TYPE_UNKNOWN",
      `the tokens of a wallet are ${TOKEN_NAMES.map((name) => `${name}s`).join(" or ")}`,
      { status: 422 },
    );
  });
}

/** Adds `/wallets/{id}/history` (http-api.md 6.5). */
function addWalletHistory(app: Server, api: Api): void {
  const { timestampOf } = api;
  app.get(
    "/wallets/:id/history",
    {
      config: HEAD_ONLY,
      schema: described(
        "Wallets",
        "Lists the balance of a wallet after each block that changed the balance, the nonce or the known public key, newest first.",
        listOf(Balance),
        {
          params: Type.Object({ id: walletId }),
          querystring: query({ ...pageQuery, ...listParameters(BALANCES) }),
        },
        PAST_REFUSALS,
      ),
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const { history } = await openHistory(snapshot);
        const address = await findAddress(api, snapshot, request.params.id);
        const { orderBy, from, to } = request.query;
        const filter = { address, ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
        const page = pageOf(request.query);
        const { rows, ...found } = await history.balances(filter, orderOf(orderBy, BALANCES), page);
        const data = rows.map(({ timestamp, ...row }) => ({ ...row, timestamp: timestampOf(timestamp) }));
        return listResponse(request, page, { rows: data, ...found });
      }),
  );
}
