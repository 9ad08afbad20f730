/** Requests to a node, whose failures are not errors of the program. */
import { request } from "node:http";
import { EVERY_EVENT } from "@uniknode/client";
import { TOKEN } from "../actors/dev-chain.ts";
import type { Target } from "./node.ts";

export type Request = {
  readonly path: string;
  /** Source address. */
  readonly from?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
};

/** Status 0 is a missing response. */
export type Response = { readonly status: number; readonly text: string };

const RESPONSE_TIMEOUT_MS = 20_000;

/** Sends a request on a new connection. */
export function ask(
  { host, httpPort }: Target,
  { from, headers, body, ...options }: Request,
  timeoutMs = RESPONSE_TIMEOUT_MS,
): Promise<Response> {
  return new Promise((resolve) => {
    let text = "";
    const settle = (status: number) => resolve({ status, text });
    const sent = request({
      ...{ host, port: httpPort, localAddress: from, agent: false },
      method: body === undefined ? "GET" : "POST",
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      signal: AbortSignal.timeout(timeoutMs),
      ...options,
    });
    sent.once("response", (response) => {
      response.once("error", () => settle(0));
      response.once("end", () => settle(response.statusCode ?? 0));
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
    });
    sent.once("error", () => settle(0));
    sent.end(body);
  });
}

/** Returns the items one after the other, again and again. */
export function inTurn<T>(items: readonly T[]): () => T {
  let count = 0;
  return () => items[count++ % items.length] as T;
}

/** Bytes of a GET request, for raw connections. */
export const rawGet = (path: string, headers = ""): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

/** Bytes of a request for a live stream. */
export const rawStream = (query: string): string =>
  rawGet(`/api/v2/events${query}`, `Authorization: ${TOKEN}\r\n`);

/** Headers of a client that has the secret of the webhook register. */
export const WITH_TOKEN = { authorization: TOKEN };

/** Registers a webhook, for every event unless the fields name others. */
export const registration = (fields: object): Request => ({
  path: "/api/v2/webhooks",
  headers: WITH_TOKEN,
  body: JSON.stringify({ events: ["*"], conditions: [EVERY_EVENT], ...fields }),
});
