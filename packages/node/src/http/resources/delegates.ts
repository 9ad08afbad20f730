/** `/delegates` (http-api.md 6.6). */
import { Type } from "../../platform/json/schema.ts";
import { DELEGATE_BLOCKS, DELEGATES, VOTERS } from "../../read/lists.ts";
import type { Api, Resource } from "../core/api.ts";
import type { Server } from "../core/app.ts";
import { HttpError, notFound } from "../core/error.ts";
import { HEAD_ONLY } from "../core/head-cache.ts";
import { described, listOf, single } from "../documentation/route.ts";
import { body, listParameters, searchMembers } from "../requests/list-schemas.ts";
import { pageQuery } from "../requests/pagination.ts";
import { query, transformQuery, walletId } from "../requests/parameters.ts";
import { atQuery, PAST_REFUSALS, pastState } from "../requests/past-state.ts";
import { AnyBlock, blockList } from "../responses/block.ts";
import { type Candidate, Candidates, Delegate, delegateList, delegateOrder } from "../responses/delegate.ts";
import { Wallet, walletList } from "../responses/wallet.ts";

const listQuery = query({ ...pageQuery, ...listParameters(DELEGATES), orderBy: delegateOrder });
const searchBody = body(searchMembers(DELEGATES));
const blocksQuery = query({ ...pageQuery, ...transformQuery, ...listParameters(DELEGATE_BLOCKS) });
const votersQuery = query({ ...pageQuery, ...listParameters(VOTERS), ...transformQuery });

const params = Type.Object({ id: walletId });

export const delegates: Resource = (app, api) => {
  const candidates = new Candidates(api);
  addList(app, api, candidates);
  addSearch(app, api, candidates);
  addDelegate(app, api, candidates);
  addBlocks(app, api, candidates);
  addVoters(app, api, candidates);
};

function addList(app: Server, api: Api, candidates: Candidates): void {
  app.get(
    "/delegates",
    {
      config: HEAD_ONLY,
      schema: described("Delegates", "Lists delegates by rank, resigned ones last.", listOf(Delegate), {
        querystring: listQuery,
      }),
    },
    (request) =>
      api.read(request, async (snapshot) =>
        delegateList(request, await candidates.present(snapshot), request.query),
      ),
  );
}

function addSearch(app: Server, api: Api, candidates: Candidates): void {
  app.post(
    "/delegates/search",
    {
      schema: described("Delegates", "Searches delegates.", listOf(Delegate), {
        querystring: query({ ...pageQuery, orderBy: delegateOrder }),
        body: searchBody,
      }),
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const { activeDelegates } = api.network.milestoneAt(snapshot.head.height);
        if ((request.body.usernames?.length ?? 0) > activeDelegates) {
          throw new HttpError("INVALID_MEMBER", `"usernames" must have from 1 to ${activeDelegates} items`);
        }
        return delegateList(request, await candidates.present(snapshot), request.body);
      }),
  );
}

function addDelegate(app: Server, api: Api, candidates: Candidates): void {
  app.get(
    "/delegates/:id",
    {
      config: HEAD_ONLY,
      schema: described(
        "Delegates",
        "Returns a delegate by username, address or public key; with `at`, as it was after the block of this height.",
        single(Delegate),
        { params, querystring: atQuery },
        PAST_REFUSALS,
      ),
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const state = await pastState(snapshot, request.query);
        const all = await (state ? candidates.past(state) : candidates.present(snapshot));
        return { data: find(all, request.params.id).response };
      }),
  );
}

function addBlocks(app: Server, api: Api, candidates: Candidates): void {
  app.get(
    "/delegates/:id/blocks",
    {
      config: HEAD_ONLY,
      schema: described(
        "Delegates",
        "Lists the blocks that a delegate forged, newest first.",
        listOf(AnyBlock),
        { params, querystring: blocksQuery },
      ),
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const { orderBy, ...filter } = request.query;
        const forgedBy = find(await candidates.present(snapshot), request.params.id).response.publicKey;
        return blockList(api, snapshot, request, { ...filter, forgedBy }, orderBy);
      }),
  );
}

function addVoters(app: Server, api: Api, candidates: Candidates): void {
  app.get(
    "/delegates/:id/voters",
    {
      config: HEAD_ONLY,
      schema: described(
        "Delegates",
        "Lists the wallets that vote for a delegate, richest first.",
        listOf(Wallet),
        { params, querystring: votersQuery },
      ),
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const { orderBy, ...filter } = request.query;
        const votesFor = find(await candidates.present(snapshot), request.params.id).response.publicKey;
        return walletList(snapshot, request, { ...filter, votesFor }, orderBy);
      }),
  );
}

function find(candidates: readonly Candidate[], id: string): Candidate {
  const found = candidates.find(
    ({ response }) => response.address === id || response.publicKey === id || response.username === id,
  );
  if (!found) throw notFound("DELEGATE_UNKNOWN", "Delegate");
  return found;
}
