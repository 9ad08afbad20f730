/** Writes the messages of a server (p2p.md 3.2 to 4.2). */
import { encodeValue } from "../codec.ts";
import type { ReplyHeaders } from "../headers.ts";
import { TIMES_MS } from "../limits.ts";
import type { EventName } from "../requests/arguments.ts";
import type { ResultOf } from "./results.ts";

/** Sent every `TIMES_MS.pingInterval`; the client responds with a pong. */
export const PING = "#1";

/** Sent before the reply to a handshake with a token: no token is valid, since the node issues none. */
export const REMOVE_TOKEN = encodeValue({ event: "#removeAuthToken", data: null });
const WRONG_TOKEN = { message: "jwt malformed", name: "AuthTokenInvalidError" };

/** @param id of the connection: any text, 20 characters of URL-safe base64 by custom */
export const writeHandshakeReply = (callId: number, id: string, hasToken: boolean): string =>
  encodeValue({
    rid: callId,
    data: {
      id,
      pingTimeout: TIMES_MS.pingTimeout,
      ...(hasToken && { authError: WRONG_TOKEN }),
      isAuthenticated: false,
    },
  });

/** The headers are required: a client drops a peer that sends none. */
export const writeReply = <E extends EventName>(
  callId: number,
  _event: E,
  result: ResultOf<E>,
  { version, height }: ReplyHeaders,
): string => encodeValue({ rid: callId, data: { data: result, headers: { version, height } } });

/** The same text, with steps between the blocks of a long reply. */
export function* writeReplyGradually<E extends EventName>(
  callId: number,
  event: E,
  result: ResultOf<E>,
  headers: ReplyHeaders,
): Generator<void, string> {
  if (event !== "p2p.peer.getBlocks" || !Array.isArray(result)) {
    return writeReply(callId, event, result, headers);
  }
  const blocks: string[] = [];
  for (const block of result) {
    blocks.push(encodeValue(block));
    yield;
  }
  const { version, height } = headers;
  return `{"rid":${callId},"data":{"data":[${blocks.join(",")}],"headers":${encodeValue({ version, height })}}}`;
}

export const writeFailure = (callId: number, message: string): string =>
  encodeValue({ rid: callId, error: { message } });

/** Error message while the node is not ready (p2p.md 3.3). */
export const NOT_READY = "App is not ready.";

/** Error message for everything without a message of its own. */
export const unexpectedFailure = (event: EventName, text: string): string =>
  `${event} responded with ${text}`;

export const noCommonBlocks = (): string =>
  unexpectedFailure("p2p.peer.getCommonBlocks", "Couldn't find any common blocks.");

export const blockNotChained = (height: number, lastDownloadedHeight: number): string =>
  `Last received block ${height} cannot be chained to ${lastDownloadedHeight}.`;

export const tooManyTransactions = (block: {
  id: string;
  height: number;
  numberOfTransactions: number;
}): string =>
  `Received block ${block.id} at height ${block.height} contained too many transactions (${block.numberOfTransactions}).`;
