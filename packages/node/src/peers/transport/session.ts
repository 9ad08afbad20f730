/** An incoming connection: reads its messages, sends replies and pings (p2p.md 4 and 6). */

import { randomBytes } from "node:crypto";
import type { Steps, TimeSlices } from "../../platform/threads/time-slices.ts";
import type { RateLimits } from "../guards/rate-limits.ts";
import { createPacer, type Pacer } from "../guards/window.ts";
import {
  type Call,
  type ClientMessage,
  type ReplyHeaders,
  readClientMessageGradually,
} from "../wire/client-messages.ts";
import { decodeText } from "../wire/codec.ts";
import { isInternal } from "../wire/events.ts";
import { MAX_SERVER_MESSAGES } from "../wire/limits.ts";
import { advance, checkLength, NEW_SESSION, pinged, type Session } from "../wire/message-order.ts";
import {
  NOT_READY,
  PING,
  REMOVE_TOKEN,
  unexpectedFailure,
  writeFailure,
  writeHandshakeReply,
  writeReplyGradually,
} from "../wire/server-messages.ts";
import { CLOSE_CODES, serverReaction, WireError } from "../wire/wire-error.ts";
import { type Caller, ReplyError, type RequestHandler } from "./calls.ts";
import type { Unsent, Watched } from "./unsent.ts";
import type { WebSocket } from "./web-socket.ts";

/** Milliseconds between pings, and of silence after which a connection is closed. */
export type KeepAlive = { readonly pingInterval: number; readonly pingTimeout: number };

export type SessionDeps = {
  readonly caller: Caller;
  readonly handle: RequestHandler;
  readonly isReady: () => boolean;
  readonly replyHeaders: () => ReplyHeaders;
  readonly rateLimits: RateLimits;
  /** Returns the longest message that the node accepts now. */
  readonly maxBytes: () => number;
  readonly times: KeepAlive;
  readonly unsent: Unsent;
  /** Called when the handshake is done. */
  readonly onOpen: () => void;
  /** Called when too many bytes wait for the caller: the connection must be cut. */
  readonly onUnsent: () => void;
  /** Processes the messages of all sessions. */
  readonly slices: TimeSlices;
  /** Called when all received messages are processed. */
  readonly onProcessed: () => void;
  /** Called when the caller broke the protocol: the connection is cut, and its address must be refused. */
  readonly onOffence: (error: WireError) => void;
};

/** Stays below the number of messages at which a client disconnects. */
const PACE = { ...MAX_SERVER_MESSAGES, events: MAX_SERVER_MESSAGES.events - 5 };

type State = SessionDeps & {
  readonly socket: WebSocket;
  readonly pacer: Pacer;
  readonly watchedUnsent: Watched;
  session: Session;
  /** Messages that wait for their turn, while the socket is paused. */
  waiting: number;
  isRefused: boolean;
};

/** Serves a socket until it ends. */
export function serveSession(socket: WebSocket, deps: SessionDeps): void {
  // A separate forger sends requests in bursts, and does not count replies.
  const pacer = createPacer(deps.caller.isTrusted ? { events: Infinity, windowMs: 0 } : PACE, (text) =>
    socket.send(text, () => {}),
  );
  const unsentLength = () => pacer.waitingLength() + socket.bufferedAmount;
  const state: State = {
    ...deps,
    socket,
    pacer,
    watchedUnsent: deps.unsent.watch(unsentLength, deps.onUnsent),
    session: NEW_SESSION,
    waiting: 0,
    isRefused: false,
  };
  watchSilence(state);
  const refuseControl = () =>
    react(state, new WireError("FRAME_CONTROL", "WebSocket pings and pongs are not used"));
  socket.on("ping", refuseControl);
  socket.on("pong", refuseControl);
  socket.on("error", ({ message }) => react(state, new WireError("FRAME_INVALID", message)));
}

/** Pings the caller, reads its messages, and closes the connection after its silence. */
function watchSilence(state: State): void {
  const { socket, times, slices, caller } = state;
  const pings = setInterval(() => {
    state.session = pinged(state.session);
    send(state, PING);
  }, times.pingInterval);
  const silence = setTimeout(() => socket.close(CLOSE_CODES.noPong), times.pingTimeout);
  socket.on("close", () => {
    clearInterval(pings);
    clearTimeout(silence);
    state.pacer.close();
    state.watchedUnsent.forget();
  });
  socket.on("message", (data, isBinary) => {
    silence.refresh();
    if (socket.readyState !== socket.OPEN) return;
    state.waiting++;
    socket.pause();
    // The socket passes a Buffer, whatever its type says.
    const frame = { data: data as Buffer, isBinary, at: performance.now() };
    void slices.run(process(state, frame), caller.address);
  });
}

type Frame = { readonly data: Buffer; readonly isBinary: boolean; readonly at: number };

function* process(state: State, frame: Frame): Steps<void> {
  try {
    if (!state.isRefused) yield* receive(state, frame);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    react(state, error);
  } finally {
    if (--state.waiting === 0) {
      state.onProcessed();
      state.socket.resume();
    }
  }
}

function react(state: State, error: WireError): void {
  state.isRefused = true;
  const reaction = serverReaction(error);
  if (reaction.kind === "close") {
    state.socket.close(reaction.closeCode);
  } else {
    state.socket.terminate();
    state.onOffence(error);
  }
}

function* receive(state: State, { data, isBinary, at }: Frame): Steps<void> {
  if (isBinary) throw new WireError("FRAME_BINARY", "only text carries messages");
  checkLength(data, state.session, state.maxBytes);
  const message = yield* readClientMessageGradually(yield* decodeText(data));
  state.session = advance(state.session, message, at);
  act(state, message, at);
}

function act(state: State, message: ClientMessage, at: number): void {
  const { caller } = state;
  if (message.kind === "handshake") {
    state.onOpen();
    const { callId, hasToken } = message;
    if (hasToken) send(state, REMOVE_TOKEN);
    if (callId !== undefined) send(state, writeHandshakeReply(callId, newId(), hasToken));
  }
  if (message.kind !== "call") return;
  state.rateLimits.count(caller.address, message.event, at);
  const refusal = refusalMessage(message, caller, state.isReady());
  if (refusal === undefined) void execute(state, message);
  else if (message.callId !== undefined) send(state, writeFailure(message.callId, refusal));
}

async function execute(state: State, call: Call): Promise<void> {
  const { caller, slices, handle, replyHeaders } = state;
  const reply = await handle(call, caller).then(
    (result) => (callId: number) => writeReplyGradually(callId, call.event, result, replyHeaders()),
    (error: unknown) => (callId: number) => writeFailure(callId, failureText(call, error)),
  );
  if (call.callId === undefined) return;
  const text = reply(call.callId);
  send(state, typeof text === "string" ? text : await slices.run(text, caller.address));
}

function send({ socket, watchedUnsent, pacer }: State, text: string): void {
  if (socket.readyState === socket.OPEN && watchedUnsent.hasCapacity(text.length)) pacer.send(text);
}

const failureText = ({ event }: Call, error: unknown): string =>
  error instanceof ReplyError
    ? error.message
    : unexpectedFailure(event, error instanceof Error ? error.message : String(error));

/** 20 characters of URL-safe base64, as old nodes send. */
const newId = (): string => randomBytes(15).toString("base64url");

/**
 * Returns the error message with which a call is refused (p2p.md 6.3 points 5 and 6); undefined if it must be executed. A
 * node that is not ready refuses before it checks the caller.
 *
 * @throws {WireError} EVENT_FORBIDDEN
 */
export function refusalMessage(
  { event }: Call,
  { isTrusted }: Pick<Caller, "isTrusted">,
  isReady: boolean,
): string | undefined {
  if (!isReady) return NOT_READY;
  if (isInternal(event) && !isTrusted)
    throw new WireError("EVENT_FORBIDDEN", "an internal event from an untrusted address");
  return undefined;
}
