/** Opens the WebSocket of an outgoing connection. */
import type { ClientRequest } from "node:http";
import { isIP } from "node:net";
import { CLIENT_MESSAGE_BYTES, TIMES_MS } from "../wire/limits.ts";
import { type ClientOptions, WebSocket } from "./web-socket.ts";

export type SocketOptions = {
  readonly address: string;
  readonly port: number;
  /** Source address of the connection; any of this host if absent, or if it is of the other IP version. */
  readonly localAddress?: string | undefined;
};

/** Begins to connect. The socket ends with an error if the peer does not accept the connection in time. */
export function openSocket({ address, port, localAddress }: SocketOptions): WebSocket {
  const kind = isIP(address);
  const host = kind === 6 ? `[${address}]` : address;
  const options: ClientOptions & { readonly closeTimeout: number } = {
    perMessageDeflate: false,
    autoPong: false,
    closeTimeout: TIMES_MS.close,
    finishRequest: (request) => connectWithin(TIMES_MS.connect, request).end(),
    maxPayload: CLIENT_MESSAGE_BYTES.blocks,
    ...(localAddress !== undefined && isIP(localAddress) === kind && { localAddress }),
  };
  return new WebSocket(`ws://${host}:${port}/socketcluster/`, options);
}

/** Fails a request whose socket is not connected in time. */
function connectWithin(ms: number, request: ClientRequest): ClientRequest {
  const timer = setTimeout(() => request.destroy(new Error(`no connection within ${ms} ms`)), ms);
  const settled = () => clearTimeout(timer);
  return request.once("socket", (socket) => socket.once("connect", settled)).once("close", settled);
}
