/** `/wallets` (http-api.md 6.5). */
import { Type } from "typebox";
import { WALLET_ORDERS, type WalletFilter, type WalletOrder } from "../store/queries/wallets.ts";
import { tokenSummary } from "./answers/unik.ts";
import { missionWalletAnswer, walletAnswer } from "./answers/wallet.ts";
import type { Resource } from "./api.ts";
import { listAnswer, pageOf, pageQuery } from "./requests/pagination.ts";
import {
  address,
  int,
  orderBy,
  orderOf,
  publicKey,
  query,
  uint,
  username,
  walletId,
} from "./requests/parameters.ts";
import { notFound } from "./transport/error.ts";
import { TOKEN_NAMES, tokenOrderOf } from "./uniks.ts";

const listQuery = query({
  ...pageQuery,
  orderBy: Type.Optional(orderBy(...WALLET_ORDERS)),
  address: Type.Optional(address),
  publicKey: Type.Optional(publicKey),
  secondPublicKey: Type.Optional(publicKey),
  vote: Type.Optional(publicKey),
  username: Type.Optional(username),
  balance: Type.Optional(int),
  voteBalance: Type.Optional(uint),
  producedBlocks: Type.Optional(uint),
});

const DEFAULT_ORDER: WalletOrder = { field: "balance", direction: "desc" };

const params = Type.Object({ id: walletId });

export const wallets: Resource = (app, { queries, read, chainmeta }) => {
  app.get("/wallets", { schema: { querystring: listQuery } }, (request) => {
    const page = pageOf(request.query);
    const order = (orderOf(request.query.orderBy) as WalletOrder | undefined) ?? DEFAULT_ORDER;
    return read((head) => {
      const { rows, totalCount } = queries.wallets.list(filterOf(request.query), order, page);
      const answer = listAnswer(request, page, { rows: rows.map(walletAnswer), totalCount });
      return { ...answer, ...chainmeta(head) };
    });
  });

  app.get("/wallets/:id", { schema: { params } }, (request) =>
    read((head) => {
      const wallet = queries.wallets.find(request.params.id);
      if (!wallet) throw notFound("Wallet");
      return { data: missionWalletAnswer(wallet), ...chainmeta(head) };
    }),
  );

  for (const name of TOKEN_NAMES) {
    const querystring = query({ ...pageQuery, orderBy: Type.Optional(Type.String()) });
    app.get(`/wallets/:id/${name}s`, { schema: { params, querystring } }, (request) => {
      const page = pageOf(request.query);
      return read((head) => {
        // Address, public key or username: whoever it is, the tokens are those of its address.
        const wallet = queries.wallets.find(request.params.id);
        const filter = { ownerId: wallet?.address ?? request.params.id };
        const { rows, totalCount } = queries.tokens.list(filter, tokenOrderOf(request.query), page);
        const data = rows.map((token) => tokenSummary(token, name));
        return { ...listAnswer(request, page, { rows: data, totalCount }), ...chainmeta(head) };
      });
    });
  }
};

/** As the old network has it, 0 stands for "whatever it is" in these two filters. */
const filterOf = ({ voteBalance, producedBlocks, ...filter }: WalletFilter): WalletFilter => ({
  ...filter,
  ...(Number(voteBalance) > 0 && { voteBalance }),
  ...(Number(producedBlocks) > 0 && { producedBlocks }),
});
