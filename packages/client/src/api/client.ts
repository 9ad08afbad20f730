/** A typed client of the HTTP API: a member for each resource, a function for each route. */
import { createConnect } from "./request.ts";
import { blockchain } from "./resources/blockchain.ts";
import { blocks } from "./resources/blocks.ts";
import { delegates } from "./resources/delegates.ts";
import { dev } from "./resources/dev.ts";
import { entities } from "./resources/entities.ts";
import { events } from "./resources/events.ts";
import { facts } from "./resources/facts.ts";
import { locks } from "./resources/locks.ts";
import { node } from "./resources/node.ts";
import { operations } from "./resources/operations.ts";
import { peers } from "./resources/peers.ts";
import { rounds } from "./resources/rounds.ts";
import { transactions } from "./resources/transactions.ts";
import { nfts, uniks } from "./resources/uniks.ts";
import { votes } from "./resources/votes.ts";
import { wallets } from "./resources/wallets.ts";
import { deliveries } from "./resources/webhooks/deliveries.ts";
import { register } from "./resources/webhooks/register.ts";
import { replays } from "./resources/webhooks/replays.ts";
import { createSend, type Send, type SendOptions } from "./send.ts";
import { sleep } from "./sleep.ts";

export type ClientOptions = SendOptions & {
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** The webhook token of the node's configuration; needed for `webhooks`, `operations`, `dev` and `events`. */
  readonly webhookToken?: string;
};

export type Client = ReturnType<typeof createClient>;

/**
 * Creates a client of the node at a URL. It sends nothing before one of its functions is called.
 *
 * Functions resolve to the body of the response: `data`, and `meta` or `chainmeta` if there is one. Lists can
 * be iterated, or read page by page. Every function throws `ApiError`, and `TypeError` for an id that is
 * empty, `.` or `..`: no URL can contain these.
 *
 * @throws {TypeError} when the URL is invalid
 */
export function createClient({ fetch = globalThis.fetch, webhookToken, ...options }: ClientOptions) {
  const dependencies = {
    // Called without an object: browsers refuse `fetch` as a member of anything but the window.
    fetch: ((...request) => fetch(...request)) as typeof globalThis.fetch,
    sleep,
    nowMs: Date.now,
  };
  const send = createSend(options, dependencies);
  const connect = createConnect(options.url, dependencies.fetch);
  const headers = webhookToken === undefined ? {} : { authorization: webhookToken };
  const withToken: Send = (request) => send({ ...request, headers });
  return {
    blockchain: blockchain(send),
    blocks: blocks(send),
    delegates: delegates(send),
    dev: dev(withToken),
    entities: entities(send),
    events: events(headers, { ...dependencies, connect, signal: options.signal }),
    facts: facts(send),
    locks: locks(send),
    nfts: nfts(send),
    node: node(send),
    operations: operations(withToken),
    peers: peers(send),
    rounds: rounds(send),
    transactions: transactions(send),
    uniks: uniks(send),
    votes: votes(send),
    wallets: wallets(send),
    /** Every request needs the webhook token of the node; that is not the token of a webhook. */
    webhooks: { ...register(withToken), ...deliveries(withToken), ...replays(withToken) },
  };
}
