/** `/locks` (http-api.md 6.10). */
import { Type } from "../../platform/json/schema.ts";
import { LOCKS, TRANSACTIONS } from "../../read/lists.ts";
import type { Api, Resource } from "../core/api.ts";
import type { Server } from "../core/app.ts";
import { notFound } from "../core/error.ts";
import { HEAD_ONLY } from "../core/head-cache.ts";
import { described, listOf, single } from "../documentation/route.ts";
import { body, distinct, listParameters, orderOfList, searchSchemas } from "../requests/list-schemas.ts";
import { pageQuery } from "../requests/pagination.ts";
import { hex64, query } from "../requests/parameters.ts";
import { Lock, lockList, lockResponse } from "../responses/lock.ts";
import { AnyTransaction, transactionList } from "../responses/transaction.ts";

const listQuery = query({ ...pageQuery, ...listParameters(LOCKS) });
const search = searchSchemas(LOCKS);

const MAX_IDS = 25;
const unlockedBody = body({ ids: Type.Optional(distinct(hex64, MAX_IDS)) });

export const locks: Resource = (app, api) => {
  addList(app, api);
  addSearch(app, api);
  addUnlocked(app, api);
  addLock(app, api);
};

function addList(app: Server, api: Api): void {
  app.get(
    "/locks",
    {
      config: HEAD_ONLY,
      schema: described("Locks", "Lists open locks.", listOf(Lock), { querystring: listQuery }),
    },
    (request) =>
      api.read(request, async ({ head, locks }) =>
        lockList(api, head, request, await locks.all(), request.query),
      ),
  );
}

function addSearch(app: Server, api: Api): void {
  app.post(
    "/locks/search",
    {
      schema: described("Locks", "Searches open locks.", listOf(Lock), search),
    },
    (request) =>
      api.read(request, async ({ head, locks }) =>
        lockList(api, head, request, await locks.all(), request.body),
      ),
  );
}

function addUnlocked(app: Server, api: Api): void {
  app.post(
    "/locks/unlocked",
    {
      schema: described("Locks", "Lists the claims and refunds of locks.", listOf(AnyTransaction), {
        querystring: query({ ...pageQuery, orderBy: orderOfList(TRANSACTIONS) }),
        body: unlockedBody,
      }),
    },
    (request) => {
      const { orderBy = "timestamp:asc" } = request.query;
      const lockIds = request.body.ids ?? [];
      return api.read(request, (snapshot) =>
        transactionList(api, snapshot, request, { lockIds }, { orderBy, sequence: "asc" }),
      );
    },
  );
}

function addLock(app: Server, api: Api): void {
  app.get(
    "/locks/:id",
    {
      config: HEAD_ONLY,
      schema: described("Locks", "Returns an open lock.", single(Lock), {
        params: Type.Object({ id: hex64 }),
      }),
    },
    (request) =>
      api.read(request, async ({ head, locks }) => {
        const lock = await locks.find(request.params.id);
        if (!lock) throw notFound("LOCK_UNKNOWN", "Lock");
        return { data: lockResponse(lock, head, api.timestampOf) };
      }),
  );
}
