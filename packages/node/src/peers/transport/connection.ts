/** An outgoing connection: the client side of the protocol (p2p.md 3, 4 and 16). */

import type { ClientRequest } from "node:http";
import { isIP, type Socket } from "node:net";
import { createTimeSlices, type Steps, type TimeSlices } from "../../platform/threads/time-slices.ts";
import { createWindowCounter } from "../guards/window.ts";
import { CLOSE_CODES, WireError } from "../wire/error.ts";
import { CLIENT_MESSAGE_BYTES, MAX_SERVER_MESSAGES, MESSAGE_SLICE_MS, TIMES_MS } from "../wire/limits.ts";
import {
  readHandshakeReply,
  readReply,
  readServerMessageGradually,
  type ServerMessage,
} from "../wire/replies/read.ts";
import type { ArgumentOf, EventName } from "../wire/requests/arguments.ts";
import {
  HANDSHAKE_CALL_ID,
  PONG,
  writeCall,
  writeDisconnect,
  writeHandshake,
} from "../wire/requests/write.ts";
import { PeerError } from "./error.ts";
import { createUnfinished } from "./unfinished.ts";
import { type ClientOptions, type RawData, WebSocket } from "./web-socket.ts";

export type Endpoint = {
  readonly address: string;
  readonly port: number;
  /** Source address of the connection; any of this host if absent, or if it is of the other IP version. */
  readonly localAddress?: string | undefined;
  /** Called with the socket of the connection. */
  readonly onSocket?: (socket: Socket) => void;
  /** Processes the messages of the peer; a queue of its own if absent. */
  readonly slices?: TimeSlices;
  /** Timeout of the handshake, after the peer has accepted the connection; `TIMES_MS.connect` if absent. */
  readonly handshakeMs?: number;
  /** Ends the attempt to connect; without effect on a connection. */
  readonly signal?: AbortSignal;
};

export type CallLimits = {
  readonly timeoutMs: number;
  /** Maximum length of the reply. */
  readonly maxBytes: number;
};

export type Connection = {
  /**
   * The result of a call, not validated yet, and the height in the headers of the reply.
   *
   * @throws {PeerError}
   */
  call<E extends EventName>(
    event: E,
    argument: ArgumentOf<E>,
    limits: CallLimits,
  ): Promise<{ result: unknown; height: number | undefined }>;
  /** Settles when the connection has ended, with the rule of the protocol that the peer broke, if any. */
  readonly ended: Promise<WireError | undefined>;
  /** Announces the end. The connection has ended soon after, whatever the peer does. */
  close(): void;
};

/** Tolerance for network jitter: messages may arrive closer to each other than they were sent. */
const JITTER_MS = 300;

type Pending = {
  readonly settle: (message: ServerMessage) => void;
  readonly fail: (error: PeerError) => void;
  readonly maxBytes: number;
};

/**
 * Connects and performs the handshake.
 *
 * @throws {PeerError} PEER_UNREACHABLE, PEER_PROTOCOL
 */
export function connectPeer(endpoint: Endpoint): Promise<Connection> {
  const { address, port, localAddress, onSocket, handshakeMs = TIMES_MS.connect, signal } = endpoint;
  const slices = endpoint.slices ?? createTimeSlices({ sliceMs: MESSAGE_SLICE_MS });
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
  const socket = new WebSocket(`ws://${host}:${port}/socketcluster/`, options);
  const pending = new Map<number, Pending>();
  const ended = Promise.withResolvers<WireError | undefined>();
  const messages = createWindowCounter(MAX_SERVER_MESSAGES);
  let lastCallId = HANDSHAKE_CALL_ID;
  let lastPongAt = Number.NEGATIVE_INFINITY;
  let violation: WireError | undefined;
  let processed = () => {};
  /** Messages that wait for their turn, while the socket is paused. */
  let waiting = 0;

  const closeAfter = (ms: number) => setTimeout(() => socket.close(CLOSE_CODES.noPing), ms);
  let silence = setTimeout(() => socket.terminate(), TIMES_MS.connect + handshakeMs);
  const maxBytes = () =>
    Math.max(CLIENT_MESSAGE_BYTES.other, ...[...pending.values()].map((call) => call.maxBytes));

  socket.on("upgrade", ({ socket: wire }) => {
    onSocket?.(wire);
    const unfinished = createUnfinished({ maxTotalBytes: Infinity });
    processed = unfinished.watch(wire, maxBytes, () =>
      failProtocol("FRAME_INVALID", "a reply is too long"),
    ).finished;
  });
  socket.on("message", (data, isBinary) => {
    if (violation) return;
    waiting++;
    socket.pause();
    void slices.run(process(data, isBinary, performance.now()), address);
  });
  const refuseControl = () => failProtocol("FRAME_CONTROL", "WebSocket pings and pongs are not used");
  socket.on("ping", refuseControl);
  socket.on("pong", refuseControl);
  socket.on("error", () => socket.terminate());
  socket.on("close", () => {
    clearTimeout(silence);
    const error = violation
      ? new PeerError("PEER_PROTOCOL", violation.message, { cause: violation })
      : new PeerError("PEER_GONE", `${address} closed the connection`);
    for (const { fail } of pending.values()) fail(error);
    pending.clear();
    ended.resolve(violation);
  });

  function* process(data: RawData, isBinary: boolean, at: number): Steps<void> {
    try {
      if (violation) return;
      if (isBinary) throw new WireError("FRAME_BINARY", "only text carries messages");
      if (!messages.take("", at)) {
        throw new WireError("REPLIES_EXCEEDED", "a server sends too many messages at a time");
      }
      receive(yield* readServerMessageGradually(String(data)));
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      failProtocol(error.code, error.message);
    } finally {
      if (--waiting === 0) {
        processed();
        socket.resume();
      }
    }
  }

  function failProtocol(code: WireError["code"], message: string): void {
    violation ??= new WireError(code, message);
    socket.terminate();
  }

  function receive(message: ServerMessage): void {
    switch (message.kind) {
      case "ping":
        silence.refresh();
        pong();
        break;
      case "disconnect":
        socket.close(CLOSE_CODES.normal);
        break;
      case "reply":
      case "failure":
        pending.get(message.callId)?.settle(message);
        pending.delete(message.callId);
    }
  }

  /** Pings that arrive together, as after a pause of this process, get one pong: a second one breaks the protocol. */
  function pong(): void {
    const now = performance.now();
    if (now - lastPongAt < TIMES_MS.betweenPongs + JITTER_MS) return;
    lastPongAt = now;
    socket.send(PONG, () => {});
  }

  /** Sends a text and waits for its reply. */
  function request(callId: number, text: string, limits: CallLimits): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        pending.delete(callId);
        reject(new PeerError("PEER_TIMEOUT", `${address} did not reply within ${limits.timeoutMs} ms`));
      }, limits.timeoutMs);
      pending.set(callId, {
        maxBytes: limits.maxBytes,
        fail(error) {
          clearTimeout(timer);
          reject(error);
        },
        settle(message) {
          clearTimeout(timer);
          if (message.kind === "reply") resolve(message.data);
          else if (message.kind === "failure") reject(new PeerError("PEER_REFUSED", message.message));
        },
      });
      socket.send(text, (error) => {
        if (error) pending.get(callId)?.fail(new PeerError("PEER_GONE", error.message));
      });
    });
  }

  async function call<E extends EventName>(event: E, argument: ArgumentOf<E>, limits: CallLimits) {
    if (socket.readyState !== socket.OPEN) throw new PeerError("PEER_GONE", `${address} is not connected`);
    const callId = ++lastCallId;
    const data = await request(callId, writeCall(event, argument, callId), limits);
    try {
      return readReply(data);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      failProtocol(error.code, error.message);
      throw new PeerError("PEER_PROTOCOL", error.message, { cause: error });
    }
  }

  async function shakeHands(): Promise<void> {
    const limits = { timeoutMs: TIMES_MS.smallReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
    const { pingTimeoutMs } = readHandshakeReply(await request(HANDSHAKE_CALL_ID, writeHandshake(), limits));
    clearTimeout(silence);
    silence = closeAfter(pingTimeoutMs);
  }

  function close(): void {
    if (socket.readyState === socket.OPEN) {
      socket.send(writeDisconnect(CLOSE_CODES.normal), () => {});
      socket.close(CLOSE_CODES.normal);
    } else socket.terminate();
  }

  return new Promise((resolve, reject) => {
    const abort = () => socket.terminate();
    signal?.addEventListener("abort", abort);
    socket.once("close", () => signal?.removeEventListener("abort", abort));
    const unreachable = (error: unknown) => {
      socket.terminate();
      const reason = error instanceof Error ? error.message : "the connection was closed";
      reject(
        new PeerError("PEER_UNREACHABLE", `${address}:${port} cannot be reached: ${reason}`, {
          cause: error,
        }),
      );
    };
    socket.once("error", unreachable);
    socket.once("close", unreachable);
    socket.once("open", () => {
      shakeHands().then(() => {
        signal?.removeEventListener("abort", abort);
        resolve({ call, close, ended: ended.promise });
      }, unreachable);
    });
  });
}

/** Fails a request whose socket is not connected in time. */
function connectWithin(ms: number, request: ClientRequest): ClientRequest {
  const timer = setTimeout(() => request.destroy(new Error(`no connection within ${ms} ms`)), ms);
  const settled = () => clearTimeout(timer);
  return request.once("socket", (socket) => socket.once("connect", settled)).once("close", settled);
}
