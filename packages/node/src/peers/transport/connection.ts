/** An outgoing connection: the client side of the protocol (p2p.md 3, 4 and 16). */

import type { ClientRequest } from "node:http";
import { isIP, type Socket } from "node:net";
import { createTimeSlices, type Steps, type TimeSlices } from "../../platform/threads/time-slices.ts";
import { createWindowCounter, type WindowCounter } from "../guards/window.ts";
import {
  HANDSHAKE_CALL_ID,
  PONG,
  writeCall,
  writeDisconnect,
  writeHandshake,
} from "../wire/client-messages.ts";
import { decodeText } from "../wire/codec.ts";
import type { ArgumentOf, EventName } from "../wire/events.ts";
import { CLIENT_MESSAGE_BYTES, MAX_SERVER_MESSAGES, MESSAGE_SLICE_MS, TIMES_MS } from "../wire/limits.ts";
import {
  readHandshakeReply,
  readReply,
  readServerMessageGradually,
  type ServerMessage,
} from "../wire/server-messages.ts";
import { CLOSE_CODES, WireError } from "../wire/wire-error.ts";
import { PeerError } from "./calls.ts";
import { type CallLimits, createPendingCalls, type PendingCalls } from "./pending-calls.ts";
import { createUnfinished } from "./unfinished.ts";
import { type ClientOptions, WebSocket } from "./web-socket.ts";

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

type State = {
  readonly address: string;
  readonly socket: WebSocket;
  readonly calls: PendingCalls;
  readonly slices: TimeSlices;
  /** Counts the messages of the peer. */
  readonly messages: WindowCounter;
  readonly ended: PromiseWithResolvers<WireError | undefined>;
  lastCallId: number;
  /** Milliseconds of a monotonic clock. */
  lastPongAt: number;
  /** The first rule that the peer broke. */
  violation: WireError | undefined;
  /** Messages that wait for their turn, while the socket is paused. */
  waiting: number;
  /** Called when all messages that have arrived are processed. */
  onProcessed: () => void;
  /** Ends the connection if the peer does not ping in time; before that, if the handshake takes too long. */
  silence: NodeJS.Timeout;
};

/**
 * Connects and performs the handshake.
 *
 * @throws {PeerError} PEER_UNREACHABLE, PEER_PROTOCOL
 */
export function connectPeer(endpoint: Endpoint): Promise<Connection> {
  const { address, port, signal } = endpoint;
  const state = openConnection(endpoint);
  const { socket } = state;
  return new Promise((resolve, reject) => {
    const abort = () => socket.terminate();
    const ignoreSignal = () => signal?.removeEventListener("abort", abort);
    const unreachable = (error: unknown) => {
      socket.terminate();
      const reason = error instanceof Error ? error.message : "the connection was closed";
      const message = `${address}:${port} cannot be reached: ${reason}`;
      reject(new PeerError("PEER_UNREACHABLE", message, { cause: error }));
    };
    signal?.addEventListener("abort", abort);
    socket.once("close", ignoreSignal);
    socket.once("error", unreachable);
    socket.once("close", unreachable);
    socket.once("open", () => {
      shakeHands(state).then(() => {
        ignoreSignal();
        resolve({
          call: (event, argument, limits) => call(state, event, argument, limits),
          close: () => close(state),
          ended: state.ended.promise,
        });
      }, unreachable);
    });
  });
}

function openConnection(endpoint: Endpoint): State {
  const { address, slices, handshakeMs = TIMES_MS.connect } = endpoint;
  const socket = openSocket(endpoint);
  const state: State = {
    address,
    socket,
    calls: createPendingCalls(address, socket),
    slices: slices ?? createTimeSlices({ sliceMs: MESSAGE_SLICE_MS }),
    messages: createWindowCounter(MAX_SERVER_MESSAGES),
    ended: Promise.withResolvers(),
    lastCallId: HANDSHAKE_CALL_ID,
    lastPongAt: Number.NEGATIVE_INFINITY,
    violation: undefined,
    waiting: 0,
    onProcessed: () => {},
    silence: setTimeout(() => socket.terminate(), TIMES_MS.connect + handshakeMs),
  };
  listenToPeer(state, endpoint.onSocket);
  return state;
}

function listenToPeer(state: State, onSocket: Endpoint["onSocket"]): void {
  const { socket, calls } = state;
  socket.on("upgrade", ({ socket: wire }) => {
    onSocket?.(wire);
    const onTooLong = () => failProtocol(state, "FRAME_INVALID", "a reply is too long");
    const unfinished = createUnfinished({ maxTotalBytes: Infinity });
    state.onProcessed = unfinished.watch(wire, calls.maxBytes, onTooLong).finished;
  });
  socket.on("message", (data, isBinary) => {
    if (state.violation) return;
    state.waiting++;
    socket.pause();
    void state.slices.run(process(state, data as Buffer, isBinary, performance.now()), state.address);
  });
  const refuseControl = () => failProtocol(state, "FRAME_CONTROL", "WebSocket pings and pongs are not used");
  socket.on("ping", refuseControl);
  socket.on("pong", refuseControl);
  socket.on("error", () => socket.terminate());
  socket.on("close", () => onClose(state));
}

function onClose({ address, violation, calls, ended, silence }: State): void {
  clearTimeout(silence);
  const error = violation
    ? new PeerError("PEER_PROTOCOL", violation.message, { cause: violation })
    : new PeerError("PEER_GONE", `${address} closed the connection`);
  calls.failAll(error);
  ended.resolve(violation);
}

function* process(state: State, data: Buffer, isBinary: boolean, at: number): Steps<void> {
  try {
    if (state.violation) return;
    if (isBinary) throw new WireError("FRAME_BINARY", "only text carries messages");
    if (!state.messages.take("", at)) {
      throw new WireError("REPLIES_EXCEEDED", "a server sends too many messages at a time");
    }
    receive(state, yield* readServerMessageGradually(yield* decodeText(data)));
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    failProtocol(state, error.code, error.message);
  } finally {
    if (--state.waiting === 0) {
      state.onProcessed();
      state.socket.resume();
    }
  }
}

function failProtocol(state: State, code: WireError["code"], message: string): void {
  state.violation ??= new WireError(code, message);
  state.socket.terminate();
}

function receive(state: State, message: ServerMessage): void {
  switch (message.kind) {
    case "ping":
      state.silence.refresh();
      pong(state);
      break;
    case "disconnect":
      state.socket.close(CLOSE_CODES.normal);
      break;
    case "reply":
    case "failure":
      state.calls.settle(message);
  }
}

/** Pings that arrive together, as after a pause of this process, get one pong: a second one breaks the protocol. */
function pong(state: State): void {
  const now = performance.now();
  if (now - state.lastPongAt < TIMES_MS.betweenPongs + JITTER_MS) return;
  state.lastPongAt = now;
  state.socket.send(PONG, () => {});
}

async function shakeHands(state: State): Promise<void> {
  const { socket, calls } = state;
  const limits = { timeoutMs: TIMES_MS.smallReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
  const { pingTimeoutMs } = readHandshakeReply(await calls.send(HANDSHAKE_CALL_ID, writeHandshake(), limits));
  clearTimeout(state.silence);
  state.silence = setTimeout(() => socket.close(CLOSE_CODES.noPing), pingTimeoutMs);
}

async function call<E extends EventName>(
  state: State,
  event: E,
  argument: ArgumentOf<E>,
  limits: CallLimits,
) {
  const { address, socket, calls } = state;
  if (socket.readyState !== socket.OPEN) throw new PeerError("PEER_GONE", `${address} is not connected`);
  const callId = ++state.lastCallId;
  const data = await calls.send(callId, writeCall(event, argument, callId), limits);
  try {
    return readReply(data);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    failProtocol(state, error.code, error.message);
    throw new PeerError("PEER_PROTOCOL", error.message, { cause: error });
  }
}

function close({ socket }: State): void {
  if (socket.readyState === socket.OPEN) {
    socket.send(writeDisconnect(CLOSE_CODES.normal), () => {});
    socket.close(CLOSE_CODES.normal);
  } else socket.terminate();
}

/** Begins to connect. The socket ends with an error if the peer does not accept the connection in time. */
function openSocket({ address, port, localAddress }: Endpoint): WebSocket {
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
