/** `/wallets/{id}/history` (http-api.md 6.5). */
import { Type } from "../../platform/json/schema.ts";
import { BALANCES } from "../../read/lists.ts";
import type { Api } from "../core/api.ts";
import type { Server } from "../core/app.ts";
import { HEAD_ONLY } from "../core/head-cache.ts";
import { described, listOf } from "../documentation/route.ts";
import { findAddress } from "../lists/wallets.ts";
import { listParameters } from "../requests/list-schemas.ts";
import { listResponse, pageOf, pageQuery } from "../requests/pagination.ts";
import { orderOf, query, walletId } from "../requests/parameters.ts";
import { openHistory, withPastState } from "../requests/past-state.ts";
import { Timestamp } from "../responses/timestamp.ts";
import { amount } from "../responses/values.ts";

const Balance = Type.Object(
  { height: Type.Integer({ minimum: 1 }), timestamp: Timestamp, balance: amount },
  { title: "Balance", description: "Balance of a wallet after a block." },
);

export function addWalletHistory(app: Server, api: Api): void {
  const { read, timestampOf } = api;
  app.get(
    "/wallets/:id/history",
    {
      config: HEAD_ONLY,
      schema: {
        ...withPastState(
          described(
            "Wallets",
            "Lists the balance of a wallet after each block that changed the balance, the nonce or the known public key, newest first.",
            listOf(Balance),
          ),
        ),
        params: Type.Object({ id: walletId }),
        querystring: query({ ...pageQuery, ...listParameters(BALANCES) }),
      },
    },
    (request) =>
      read(request, async (snapshot) => {
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
