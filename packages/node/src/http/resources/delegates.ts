/** `/delegates` (http-api.md 6.6). */
import { Type } from "typebox";
import { AnyBlock } from "../answers/block.ts";
import { Delegate } from "../answers/delegate.ts";
import { Wallet } from "../answers/wallet.ts";
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
import { HttpError, notFound } from "../server/error.ts";
import type { Resource } from "./api.ts";

const listQuery = query({
  ...pageQuery,
  orderBy: delegateOrder,
  type: Type.Optional(Type.Enum(["resigned", "never-forged"], { description: "Only those that are." })),
  address: Type.Optional(address),
  publicKey: Type.Optional(publicKey),
  secondPublicKey: Type.Optional(publicKey),
  vote: Type.Optional(publicKey),
  username: Type.Optional(username),
  balance: Type.Optional(uint),
  voteBalance: Type.Optional(uint),
  producedBlocks: Type.Optional(uint),
});

const searchBody = body({
  address: Type.Optional(address),
  publicKey: Type.Optional(publicKey),
  username: Type.Optional(username),
  // How many there may be depends on the head.
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
// Only wallets in general may owe something.
const votersQuery = query({ ...walletListQuery, balance: Type.Optional(uint), ...transformQuery });

const params = Type.Object({ id: walletId });

export const delegates: Resource = (app, api) => {
  const { network, read } = api;
  const candidates = createCandidates(api);

  app.get(
    "/delegates",
    {
      schema: {
        ...described("Delegates", "Delegates by rank, resigned ones last.", listOf(Delegate)),
        querystring: listQuery,
      },
    },
    (request) => read((head) => delegateList(request, candidates(head), request.query)),
  );

  app.post(
    "/delegates/search",
    {
      schema: {
        ...described("Delegates", "Search of delegates.", listOf(Delegate)),
        querystring: query({ ...pageQuery, orderBy: delegateOrder }),
        body: searchBody,
      },
    },
    (request) =>
      read((head) => {
        const { activeDelegates } = network.milestoneAt(head.height);
        if ((request.body.usernames?.length ?? 0) > activeDelegates) {
          throw new HttpError(422, `"usernames" must NOT have more than ${activeDelegates} items`);
        }
        return delegateList(request, candidates(head), request.body);
      }),
  );

  app.get(
    "/delegates/:id",
    {
      schema: {
        ...described("Delegates", "One delegate, by username, address or public key.", single(Delegate)),
        params,
      },
    },
    (request) => read((head) => ({ data: find(candidates(head), request.params.id).answer })),
  );

  app.get(
    "/delegates/:id/blocks",
    {
      schema: {
        ...described("Delegates", "Blocks that a delegate forged, newest first.", listOf(AnyBlock)),
        params,
        querystring: blocksQuery,
      },
    },
    (request) =>
      read((head) => {
        const { orderBy, ...filter } = request.query;
        const forgedBy = find(candidates(head), request.params.id).answer.publicKey;
        return blockList(api, head, request, { ...filter, forgedBy }, orderBy);
      }),
  );

  app.get(
    "/delegates/:id/voters",
    {
      schema: {
        ...described("Delegates", "Wallets that vote for a delegate, richest first.", listOf(Wallet)),
        params,
        querystring: votersQuery,
      },
    },
    (request) =>
      read((head) => {
        const { orderBy, ...filter } = request.query;
        const votesFor = find(candidates(head), request.params.id).answer.publicKey;
        return walletList(api, head, request, { ...filter, votesFor }, orderBy);
      }),
  );
};

function find(candidates: readonly Candidate[], id: string): Candidate {
  const found = candidates.find(
    ({ answer }) => answer.address === id || answer.publicKey === id || answer.username === id,
  );
  if (!found) throw notFound("Delegate");
  return found;
}
