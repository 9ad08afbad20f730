/** A typed client of the HTTP API: a member for each resource, a function for each route. */
import { createConnect } from "./request.ts";
import { blockchain } from "./resources/blockchain.ts";
import { blocks } from "./resources/blocks.ts";
import { delegates } from "./resources/delegates.ts";
import { dev } from "./resources/dev.ts";
import { entities } from "./resources/entities.ts";
import { events } from "./resources/events.ts";
import { locks } from "./resources/locks.ts";
import { node } from "./resources/node.ts";
import { peers } from "./resources/peers.ts";
import { rounds } from "./resources/rounds.ts";
import { transactions } from "./resources/transactions.ts";
import { nfts, uniks } from "./resources/uniks.ts";
import { votes } from "./resources/votes.ts";
import { wallets } from "./resources/wallets.ts";
import { webhooks } from "./resources/webhooks.ts";
import { createSend, type Send, type SendOptions } from "./send.ts";

export type ClientOptions = SendOptions & {
  /** Makes the requests. Default: the global one. */
  readonly fetch?: typeof fetch;
  /** The webhook token of the node's configuration; needed for `webhooks`, `dev` and `events`. */
  readonly webhookToken?: string;
};

export type Client = ReturnType<typeof createClient>;

/**
 * A client of the node at a URL. Nothing is asked before a function of it is called.
 *
 * Functions answer the body as the node says it: `data`, beside `meta` or `chainmeta` where there is one. Lists are
 * iterated, or asked for a page. Every function throws `ApiError`, and `TypeError` for an id that is empty, `.` or `..`:
 * no URL holds these.
 *
 * @throws {TypeError} when the URL is none
 */
export function createClient({ fetch = globalThis.fetch, webhookToken, ...options }: ClientOptions) {
  const dependencies = {
    // Called as a function of its own: browsers refuse it as a member of anything but the window.
    fetch: ((...request) => fetch(...request)) as typeof globalThis.fetch,
    sleep: (timeMs: number) => new Promise<void>((resolve) => setTimeout(resolve, timeMs)),
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
    locks: locks(send),
    nfts: nfts(send),
    node: node(send),
    peers: peers(send),
    rounds: rounds(send),
    transactions: transactions(send),
    uniks: uniks(send),
    votes: votes(send),
    wallets: wallets(send),
    webhooks: webhooks(withToken),
  };
}
