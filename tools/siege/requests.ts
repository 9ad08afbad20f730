/** Requests and raw connections of attackers, whose failures are not errors of the program. */
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { present } from "../../packages/node/src/platform/present.ts";
import type { Counts } from "./attack-definition.ts";
import type { Target } from "./target.ts";

export type Send = {
  readonly method?: string;
  readonly path: string;
  /** Source address of the request. */
  readonly from: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
};

type Endpoint = Pick<Target, "host" | "httpPort">;

const REQUEST_TIMEOUT_MS = 20_000;

/** Returns the status of the response, or 0 without one. Counts the request and a refusal. */
export async function send(target: Endpoint, tally: Counts, options: Send): Promise<number> {
  tally.offered();
  const { status } = await ask(target, options);
  if (status === 0 || status >= 400) tally.refused();
  return status;
}

/** Returns the response as text; status 0 without one. */
export function ask(target: Endpoint, options: Send): Promise<{ status: number; text: string }> {
  const { method = options.body === undefined ? "GET" : "POST", path, from, headers = {}, body } = options;
  return new Promise((resolve) => {
    let text = "";
    const settle = (status: number) => resolve({ status, text });
    const sent = request({
      host: target.host,
      port: target.httpPort,
      localAddress: from,
      method,
      path,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      agent: false,
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
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

/** Opens a TCP connection, counted as refused if the node closes it. `closeAll` closes the rest. */
export function createConnections(tally: Counts) {
  const open = new Set<Socket>();
  return {
    open(host: string, port: number, from: string, first: string | Uint8Array = ""): Socket {
      tally.offered();
      const socket = connect({ host, port, localAddress: from });
      open.add(socket);
      socket.on("error", () => {});
      socket.once("connect", () => {
        if (first.length > 0) socket.write(first);
      });
      socket.once("close", () => {
        if (open.delete(socket)) tally.refused();
      });
      return socket;
    },
    count: () => open.size,
    each: (work: (socket: Socket) => void) => open.forEach(work),
    closeAll() {
      const sockets = [...open];
      open.clear();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Repeats a task in `atOnce` concurrent loops until the signal is aborted. */
export async function repeat(
  { atOnce, pauseMs = 0 }: { readonly atOnce: number; readonly pauseMs?: number },
  signal: AbortSignal,
  work: () => Promise<unknown>,
): Promise<void> {
  const one = async () => {
    while (!signal.aborted) {
      await work();
      if (pauseMs > 0) await sleep(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

/**
 * Runs a task for each source at a constant rate, regardless of earlier runs, at least once and until the signal is aborted.
 * Settles when all runs have ended.
 */
export async function repeatPaced(
  sources: readonly string[],
  { perMinute }: { readonly perMinute: number },
  signal: AbortSignal,
  work: (source: string) => Promise<unknown>,
): Promise<void> {
  const intervalMs = 60_000 / perMinute / sources.length;
  const running = new Set<Promise<unknown>>();
  const startedMs = performance.now();
  for (let count = 0; !signal.aborted || count < sources.length; count++) {
    const one = work(present(sources[count % sources.length])).finally(() => running.delete(one));
    running.add(one);
    await sleep(Math.max(0, startedMs + (count + 1) * intervalMs - performance.now()));
  }
  await Promise.all(running);
}

/** Settles when the signal is aborted. */
export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
