/** Writes the messages of a client (p2p.md 3.2, 4). */
import { encodeValue } from "../codec.ts";
import { REQUEST_HEADERS } from "../headers.ts";
import type { ArgumentOf, EventName } from "./arguments.ts";

/** Reply to a server's ping. */
export const PONG = "#2";
export const HANDSHAKE = "#handshake";
export const DISCONNECT = "#disconnect";

/** Call id of the handshake, the first call of a connection; later calls increment it. */
export const HANDSHAKE_CALL_ID = 1;

export const writeHandshake = (): string =>
  encodeValue({ event: HANDSHAKE, data: { authToken: null }, cid: HANDSHAKE_CALL_ID });

/** There is no reply without a call id. */
export const writeCall = <E extends EventName>(event: E, argument: ArgumentOf<E>, callId?: number): string =>
  encodeValue({ event, data: { data: argument, headers: REQUEST_HEADERS }, cid: callId });

/** Announces the end; only the close frame with the same code may follow. A server may send it too. */
export const writeDisconnect = (closeCode: number): string =>
  encodeValue({ event: DISCONNECT, data: { code: closeCode } });
