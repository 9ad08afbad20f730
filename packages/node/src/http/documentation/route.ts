/** Descriptions of routes as part of their schemas: one source for validation and document. */
import type { FastifySchema } from "fastify";
import {
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
} from "../../platform/json/schema.ts";
import type { HandlerResult } from "../core/text.ts";
import { Chainmeta } from "../core/values.ts";
import { Meta } from "../requests/pagination.ts";

/** Tags of the document, in order. */
export const TAGS = {
  Blockchain: "The chain as a whole.",
  Node: "The node, and the configuration that clients need.",
  Blocks: "Forged blocks, newest first.",
  Transactions: "Confirmed and pending transactions, and the submission of new ones.",
  Votes: "Vote transactions of the network.",
  Wallets: "Wallets with their balances, transactions, votes and uniks.",
  Delegates: "Registered delegates, with their blocks and voters.",
  Rounds: "The delegates of a round.",
  Locks: "Open hash-time locks.",
  Entities: "Registered businesses, bridgechains, modules and other entities.",
  Uniks: "The tokens of the network. `nfts` has the same tokens with fewer members.",
  Peers: "Known peers.",
  Facts:
    "The Merkle tree of final facts, for comparing copies of the chain. Its tiles are files below `facts/tile` (C2SP tlog-tiles).",
  Events: "The live stream.",
  Webhooks: "The webhook register and its deliveries. Every request must carry the token of the node.",
  Operations:
    "Metrics, options and state of the node, for operators. Every request must carry the token of the node.",
  Dev: "Commands of a dev chain, with the token of the node. Other chains refuse them with 403.",
} as const;
export type Tag = keyof typeof TAGS;

/**
 * Returns the schema of a route.
 *
 * @param response schema of the successful response
 * @param request schemas of the parts of a request
 * @param refusals descriptions of error responses, by status
 */
export const described = <A extends TSchema, Request extends FastifySchema = Record<never, never>>(
  tag: Tag,
  summary: string,
  response: A,
  request: Request = {} as Request,
  refusals: Readonly<Record<number, string>> = {},
) => ({
  tags: [tag],
  summary,
  response: { 200: Type.Unsafe<HandlerResult<Static<A>>>(response), ...toResponses(refusals) },
  ...request,
});

const toResponses = (refusals: Readonly<Record<number, string>>): object =>
  Object.fromEntries(
    Object.entries(refusals).map(([status, description]) => [status, Type.Object({}, { description })]),
  );

/** Returns the schema of `{ data }` and further members. */
export const single = <D extends TSchema, P extends TProperties = Record<never, never>>(
  data: D,
  more: P = {} as P,
): TObject<{ data: D } & P> => Type.Object({ data, ...more });

/** Returns the schema of `{ meta, data: [...] }` and further members. */
export const listOf = <R extends TSchema, P extends TProperties = Record<never, never>>(
  row: R,
  more: P = {} as P,
) => Type.Object({ meta: Meta, data: Type.Array(row), ...more });

export const chainmetaMember = { chainmeta: Chainmeta };
