/** `/delegates` (http-api.md 6.6). */
import { Type } from "../../platform/json/schema.ts";
import type { Api, Resource } from "../core/api.ts";
import type { Server } from "../core/app.ts";
import { HttpError, notFound } from "../core/error.ts";
import { HEAD_ONLY } from "../core/head-cache.ts";
import { described, listOf, single } from "../documentation/route.ts";
import { blockList, blockListQuery } from "../lists/blocks.ts";
import { type Candidate, createCandidates, delegateList, delegateOrder } from "../lists/delegates.ts";
import { walletList, walletListQuery } from "../lists/wallets.ts";
import { body, interval, percentageValue, uintValue } from "../requests/bodies.ts";
import { pageQuery } from "../requests/pagination.ts";
import {
  address,
  hex,
  publicKey,
  query,
  transformQuery,
  uint,
  username,
  walletId,
} from "../requests/parameters.ts";
import { AnyBlock } from "../responses/block.ts";
import { Delegate } from "../responses/delegate.ts";
import { Wallet } from "../responses/wallet.ts";

const shownName = Type.String({
  minLength: 1,
  maxLength: 255,
  description: "Part of the displayed name (unikname) or of the username, case-insensitive.",
});

const listQuery = query({
  ...pageQuery,
  orderBy: delegateOrder,
  type: Type.Optional(
    Type.Enum(["resigned", "never-forged"], {
      description: "Only resigned delegates, or only delegates that never forged a block.",
    }),
  ),
  address: Type.Optional(address),
  publicKey: Type.Optional(publicKey),
  secondPublicKey: Type.Optional(publicKey),
  vote: Type.Optional(publicKey),
  username: Type.Optional(username),
  name: Type.Optional(shownName),
  balance: Type.Optional(uint),
  voteBalance: Type.Optional(uint),
  producedBlocks: Type.Optional(uint),
});

const searchBody = body({
  address: Type.Optional(address),
  publicKey: Type.Optional(publicKey),
  username: Type.Optional(username),
  name: Type.Optional(shownName),
  // The maximum depends on the head.
  usernames: Type.Optional(Type.Array(username, { minItems: 1, uniqueItems: true })),
  approval: Type.Optional(interval(percentageValue)),
  forgedFees: Type.Optional(interval(uintValue)),
  forgedRewards: Type.Optional(interval(uintValue)),
  forgedTotal: Type.Optional(interval(uintValue)),
  producedBlocks: Type.Optional(interval(uintValue)),
  voteBalance: Type.Optional(interval(uintValue)),
});

const blocksQuery = query({
  ...blockListQuery,
  payloadLength: Type.Optional(uint),
  payloadHash: Type.Optional(hex),
  blockSignature: Type.Optional(hex),
});
// Voters cannot have negative balances, unlike wallets in general.
const votersQuery = query({ ...walletListQuery, balance: Type.Optional(uint), ...transformQuery });

const params = Type.Object({ id: walletId });

export const delegates: Resource = (app, api) => {
  const candidates = createCandidates(api);
  addList(app, api, candidates);
  addSearch(app, api, candidates);
  addDelegate(app, api, candidates);
  addBlocks(app, api, candidates);
  addVoters(app, api, candidates);
};

type Candidates = ReturnType<typeof createCandidates>;

function addList(app: Server, { read }: Api, candidates: Candidates): void {
  app.get(
    "/delegates",
    {
      config: HEAD_ONLY,
      schema: {
        ...described("Delegates", "Lists delegates by rank, resigned ones last.", listOf(Delegate)),
        querystring: listQuery,
      },
    },
    (request) =>
      read(request, async (snapshot) => delegateList(request, await candidates(snapshot), request.query)),
  );
}

function addSearch(app: Server, { network, read }: Api, candidates: Candidates): void {
  app.post(
    "/delegates/search",
    {
      schema: {
        ...described("Delegates", "Searches delegates.", listOf(Delegate)),
        querystring: query({ ...pageQuery, orderBy: delegateOrder }),
        body: searchBody,
      },
    },
    (request) =>
      read(request, async (snapshot) => {
        const { activeDelegates } = network.milestoneAt(snapshot.head.height);
        if ((request.body.usernames?.length ?? 0) > activeDelegates) {
          throw new HttpError("INVALID_MEMBER", `"usernames" must have from 1 to ${activeDelegates} items`);
        }
        return delegateList(request, await candidates(snapshot), request.body);
      }),
  );
}

function addDelegate(app: Server, { read }: Api, candidates: Candidates): void {
  app.get(
    "/delegates/:id",
    {
      config: HEAD_ONLY,
      schema: {
        ...described("Delegates", "Returns a delegate by username, address or public key.", single(Delegate)),
        params,
      },
    },
    (request) =>
      read(request, async (snapshot) => ({
        data: find(await candidates(snapshot), request.params.id).response,
      })),
  );
}

function addBlocks(app: Server, api: Api, candidates: Candidates): void {
  app.get(
    "/delegates/:id/blocks",
    {
      config: HEAD_ONLY,
      schema: {
        ...described("Delegates", "Lists the blocks that a delegate forged, newest first.", listOf(AnyBlock)),
        params,
        querystring: blocksQuery,
      },
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const { orderBy, ...filter } = request.query;
        const forgedBy = find(await candidates(snapshot), request.params.id).response.publicKey;
        return blockList(api, snapshot, request, { ...filter, forgedBy }, orderBy);
      }),
  );
}

function addVoters(app: Server, { read }: Api, candidates: Candidates): void {
  app.get(
    "/delegates/:id/voters",
    {
      config: HEAD_ONLY,
      schema: {
        ...described(
          "Delegates",
          "Lists the wallets that vote for a delegate, richest first.",
          listOf(Wallet),
        ),
        params,
        querystring: votersQuery,
      },
    },
    (request) =>
      read(request, async (snapshot) => {
        const { orderBy, ...filter } = request.query;
        const votesFor = find(await candidates(snapshot), request.params.id).response.publicKey;
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
