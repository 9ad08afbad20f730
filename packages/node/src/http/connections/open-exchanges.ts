/** The requests of a connection that have no complete response yet: clients can send the next request before it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

export type OpenExchanges = {
  add(request: IncomingMessage, response: ServerResponse): void;
  /**
   * Returns the open response that the failure of the connection must follow, if any. The request that fails has an
   * incomplete body, or could not be parsed.
   */
  beforeFailure(): ServerResponse | undefined;
};

const exchangesOf = new WeakMap<Duplex, OpenExchanges>();

export function openExchanges(socket: Duplex): OpenExchanges {
  const known = exchangesOf.get(socket) ?? createExchanges();
  exchangesOf.set(socket, known);
  return known;
}

function createExchanges(): OpenExchanges {
  const open: Exchange[] = [];
  return {
    add(request, response) {
      const exchange = { request, response };
      open.push(exchange);
      response.once("close", () => void open.splice(open.indexOf(exchange), 1));
    },
    beforeFailure: () => open.findLast(({ request }) => request.complete)?.response,
  };
}
