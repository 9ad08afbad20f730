/** `/blocks` (http-api.md 6.3). */

import {
  INDIVIDUAL,
  isAliveDemand,
  nftOf,
  type Reward,
  rewardOfType,
  typeFromText,
  voucherOf,
} from "@uniknode/ledger";
import type { Milestone, Network, Transaction } from "@uniknode/protocol";
import { Type } from "../../platform/json/schema.ts";
import { BLOCK_TRANSACTIONS, BLOCKS } from "../../read/lists.ts";
import type { Snapshot } from "../../read/port.ts";
import type { StoredBlock } from "../../read/rows.ts";
import type { Api, Resource } from "../core/api.ts";
import type { Server } from "../core/app.ts";
import { notFound } from "../core/error.ts";
import { EACH_BLOCK, HEAD_ONLY } from "../core/head-cache.ts";
import { described, listOf, single } from "../documentation/route.ts";
import { body, listParameters, orderOfList, searchMembers } from "../requests/list-schemas.ts";
import { pageQuery } from "../requests/pagination.ts";
import { blockId, query, transformQuery } from "../requests/parameters.ts";
import { AnyBlock, blockList, type CreatedRewards, findBlock, showBlock } from "../responses/block.ts";
import { AnyTransaction, transactionList } from "../responses/transaction.ts";
import { addBlockProof } from "./proofs.ts";

const listQuery = query({ ...pageQuery, ...transformQuery, ...listParameters(BLOCKS) });
const searchBody = body({ orderBy: orderOfList(BLOCKS), ...searchMembers(BLOCKS) });
const transactionsQuery = query({ ...pageQuery, ...transformQuery, ...listParameters(BLOCK_TRANSACTIONS) });

export const blocks: Resource = (app, api) => {
  addList(app, api);
  addSearch(app, api);
  addEnd(app, api, "first");
  addEnd(app, api, "last");
  addBlock(app, api);
  addTransactions(app, api);
  addBlockProof(app, api);
};

function addList(app: Server, api: Api): void {
  app.get(
    "/blocks",
    {
      config: EACH_BLOCK,
      schema: described("Blocks", "Lists blocks, newest first.", listOf(AnyBlock), {
        querystring: listQuery,
      }),
    },
    (request) =>
      api.read(request, (snapshot) =>
        blockList(api, snapshot, request, request.query, request.query.orderBy),
      ),
  );
}

function addSearch(app: Server, api: Api): void {
  app.post(
    "/blocks/search",
    {
      schema: described("Blocks", "Searches blocks.", listOf(AnyBlock), {
        querystring: query({ ...pageQuery, ...transformQuery }),
        body: searchBody,
      }),
    },
    (request) =>
      api.read(request, (snapshot) => blockList(api, snapshot, request, request.body, request.body.orderBy)),
  );
}

/** Adds the route of the first or of the last block. */
function addEnd(app: Server, api: Api, name: "first" | "last"): void {
  app.get(
    `/blocks/${name}`,
    {
      config: HEAD_ONLY,
      schema: described("Blocks", `Returns the ${name} block.`, single(AnyBlock), {
        querystring: query(transformQuery),
      }),
    },
    (request) =>
      api.read(request, async ({ head, blocks }) => {
        const block = existing(await blocks.byHeight(name === "first" ? 1 : head.height));
        return { data: showBlock(api, head, block, request.query) };
      }),
  );
}

function addBlock(app: Server, api: Api): void {
  app.get(
    "/blocks/:id",
    {
      config: HEAD_ONLY,
      schema: described("Blocks", "Returns a block by id or height.", single(AnyBlock), {
        params: Type.Object({ id: blockId }),
        querystring: query(transformQuery),
      }),
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const block = existing(await findBlock(snapshot, request.params.id));
        const rewards = await createdRewards(api.network, snapshot, block);
        return { data: showBlock(api, snapshot.head, block, request.query, rewards) };
      }),
  );
}

function addTransactions(app: Server, api: Api): void {
  // A text that is not an id gets 404 instead of 422.
  app.get(
    "/blocks/:id/transactions",
    {
      config: EACH_BLOCK,
      schema: described("Blocks", "Lists the transactions of a block, in order.", listOf(AnyTransaction), {
        params: Type.Object({ id: Type.String() }),
        querystring: transactionsQuery,
      }),
    },
    (request) =>
      api.read(request, async (snapshot) => {
        const { height } = existing(await findBlock(snapshot, request.params.id));
        const { orderBy } = request.query;
        return transactionList(
          api,
          snapshot,
          request,
          { ...request.query, height },
          { orderBy, sequence: "asc" },
        );
      }),
  );
}

function existing(block: StoredBlock | undefined): StoredBlock {
  if (!block) throw notFound("BLOCK_UNKNOWN", "Block");
  return block;
}

/** Returns the coins that the rewarded transactions of a block created (state.md 4.1); undefined for a block without transactions. */
export async function createdRewards(
  network: Network,
  { tokens, transactions }: Snapshot,
  { height, numberOfTransactions }: Pick<StoredBlock, "height" | "numberOfTransactions">,
): Promise<CreatedRewards | undefined> {
  if (numberOfTransactions === 0) return undefined;
  // Transactions follow the milestone of the parent block (trap A1).
  const milestone = network.milestoneAt(Math.max(height - 1, 1));
  const typeOf = async (tokenId: string) => typeFromText((await tokens.find(tokenId))?.type);
  let minters = 0n;
  let foundation = 0n;
  for (const transaction of await transactions.certifiedInBlock(height)) {
    const reward = await rewardOf(transaction, milestone, typeOf);
    if (!reward) continue;
    minters += reward.sender + reward.forger;
    // The old network returns only the last one, as recorded responses show.
    foundation = reward.foundation;
  }
  return { unikMintRewards: `${minters}`, foundationRewards: `${foundation}` };
}

/** Computes a reward as when the block was applied; reads the type from the token, where it never changes. */
async function rewardOf(
  transaction: Transaction,
  milestone: Milestone,
  typeOf: (tokenId: string) => Promise<number>,
): Promise<Reward | undefined> {
  const paysWhenAlive = milestone.unsTokenEcoV2 === true;
  if (voucherOf(transaction) !== undefined) {
    const type = typeFromText(nftOf(transaction).token.properties?.type);
    return paysWhenAlive && type === INDIVIDUAL ? undefined : rewardOfType(milestone, type);
  }
  if (!paysWhenAlive || !isAliveDemand(transaction)) return undefined;
  const type = await typeOf(nftOf(transaction).token.tokenId);
  return type === INDIVIDUAL ? rewardOfType(milestone, type) : undefined;
}
