/** Requests to a node, whose failures are not errors of the program, and waits for a state of it. */
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { EVERY_EVENT } from "@uniknode/client";

export type Endpoint = { readonly host: string; readonly httpPort: number };

export type Request = {
  readonly path: string;
  /** Source address. */
  readonly from?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Another server than that of the node. */
  readonly host?: string;
  readonly port?: number;
};

/** Status 0 is a missing response. */
export type Response = { readonly status: number; readonly text: string };

const RESPONSE_TIMEOUT_MS = 20_000;
const STATE_TIMEOUT_MS = 60_000;
const POLL_MS = 500;

/** Sends a request on a new connection. */
export function ask(
  { host, httpPort }: Endpoint,
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

/** Registers a webhook, for every event unless the fields name others. */
export const registration = (token: string, fields: object): Request => ({
  path: "/api/v2/webhooks",
  headers: { authorization: token },
  body: JSON.stringify({ events: ["*"], conditions: [EVERY_EVENT], ...fields }),
});

/**
 * Returns the values of metrics by name and labels; NaN for one that does not exist.
 * @throws {Error} if the node does not respond
 */
export async function readMetrics(
  target: Endpoint & { readonly token: string },
  from: string,
): Promise<(name: string) => number> {
  const { status, text } = await ask(target, {
    path: "/metrics",
    from,
    headers: { authorization: target.token },
  });
  if (status !== 200) throw new Error(`/metrics responded with ${status}`);
  const values = new Map(
    text.split("\n").map((line) => {
      const end = line.lastIndexOf(" ");
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
  return (name) => values.get(name) ?? Number.NaN;
}

/**
 * Waits until a state is reached.
 * @throws {Error} that names the state, after the timeout
 */
export async function until(
  state: string,
  isReached: () => Promise<boolean> | boolean,
  timeoutMs = STATE_TIMEOUT_MS,
): Promise<void> {
  const endsMs = performance.now() + timeoutMs;
  while (!(await isReached())) {
    if (performance.now() > endsMs) throw new Error(`not within ${timeoutMs / 1_000} s: ${state}`);
    await sleep(POLL_MS);
  }
}
