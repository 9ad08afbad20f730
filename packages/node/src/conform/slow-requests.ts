/** Requests whose bodies arrive in pieces, together with others, or not to the end. */
import { once } from "node:events";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { setImmediate as nextTick, setTimeout as sleep } from "node:timers/promises";

export type SlowOptions = {
  readonly target: string;
  /** Timeout of one request with its response. */
  readonly timeoutMs: number;
  /** Pause between the pieces of a request. */
  readonly pieceMs: number;
};

/** A signed request. */
export type Parts = { readonly headers: Readonly<Record<string, string>>; readonly body: string };

/** Returns the pieces of a body. */
export type Split = (body: Buffer) => readonly Buffer[];

type Open = { readonly request: ClientRequest; readonly body: Buffer };

function open({ target, timeoutMs }: SlowOptions, { headers, body: text }: Parts, signal: AbortSignal): Open {
  const body = Buffer.from(text);
  const start = target.startsWith("https:") ? httpsRequest : httpRequest;
  const request = start(target, {
    method: "POST",
    headers: { ...headers, "content-length": body.length },
    agent: false,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  });
  return { request, body };
}

/** Ticks in which a receiver in the same process reads what has arrived, also after the process was suspended. */
const TICKS = 5;

async function pause(timeMs: number): Promise<void> {
  await sleep(timeMs);
  for (let tick = 0; tick < TICKS; tick++) await nextTick();
}

/** Sends a body in pieces, with a pause after each. Resolves to the status. */
export async function sendPieces(
  options: SlowOptions,
  parts: Parts,
  split: Split,
  signal: AbortSignal,
): Promise<number> {
  const { request, body } = open(options, parts, signal);
  const responded = responseTo(request);
  for (const piece of split(body)) {
    request.write(piece);
    await pause(options.pieceMs);
  }
  request.end();
  return responded;
}

/** Sends copies that are complete at the same time. Resolves to their statuses. */
export async function sendCopies(
  options: SlowOptions,
  parts: Parts,
  copies: number,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const opened = Array.from({ length: copies }, () => open(options, parts, signal));
  const responses = Promise.all(opened.map(({ request }) => responseTo(request)));
  responses.catch(() => {});
  for (const { request, body } of opened) request.write(halves(body)[0]);
  await pause(options.pieceMs);
  for (const { request, body } of opened) request.end(halves(body)[1]);
  return responses;
}

/** Sends half of a body, and closes the connection. */
export async function sendHalf(options: SlowOptions, parts: Parts, signal: AbortSignal): Promise<void> {
  const { request, body } = open(options, parts, signal);
  const closed = new Promise((resolve) => request.on("close", resolve));
  // The connection is closed on purpose, and the receiver may close it first.
  request.on("error", () => {});
  request.write(halves(body)[0]);
  await pause(options.pieceMs);
  request.destroy();
  await closed;
}

function halves(body: Buffer): [Buffer, Buffer] {
  const middle = Math.floor(body.length / 2);
  return [body.subarray(0, middle), body.subarray(middle)];
}

/** Resolves to the status; a response can arrive before the request is complete. */
function responseTo(request: ClientRequest): Promise<number> {
  const status = (once(request, "response") as Promise<[IncomingMessage]>).then(([response]) => {
    // The status counts, not the end of the body.
    response.on("error", () => {}).resume();
    return response.statusCode ?? 0;
  });
  // It is awaited after the last piece.
  status.catch(() => {});
  // A receiver that responds early can close the connection before the last piece.
  request.on("error", () => {});
  return status;
}
