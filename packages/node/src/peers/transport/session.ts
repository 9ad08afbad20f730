/** An incoming connection: reads its messages, sends replies and pings (p2p.md 4 and 6). */

import { randomBytes } from "node:crypto";
import type { Steps, TimeSlices } from "../../platform/threads/time-slices.ts";
import type { RateLimits } from "../guards/rate-limits.ts";
import { refusalMessage } from "../wire/admit.ts";
import { CLOSE_CODES, serverReaction, WireError } from "../wire/error.ts";
import type { ReplyHeaders } from "../wire/headers.ts";
import { MAX_SERVER_MESSAGES } from "../wire/limits.ts";
import {
  PING,
  REMOVE_TOKEN,
  unexpectedFailure,
  writeFailure,
  writeHandshakeReply,
  writeReplyGradually,
} from "../wire/replies/write.ts";
import { type Call, type ClientMessage, readClientMessageGradually } from "../wire/requests/read.ts";
import { advance, NEW_SESSION, pinged } from "../wire/requests/session.ts";
import { ReplyError, type Caller, type RequestHandler } from "./handler.ts";
import { createPacer } from "./pacer.ts";
import type { Unsent } from "./unsent.ts";
import type { RawData, WebSocket } from "./web-socket.ts";

/** Milliseconds between pings, and of silence after which a connection is closed. */
export type KeepAlive = { readonly pingInterval: number; readonly pingTimeout: number };

export type SessionDeps = {
  readonly caller: Caller;
  readonly answer: RequestHandler;
  readonly isReady: () => boolean;
  readonly replyHeaders: () => ReplyHeaders;
  readonly rateLimits: RateLimits;
  readonly times: KeepAlive;
  readonly unsent: Unsent;
  /** The handshake is done. */
  readonly onOpen: () => void;
  /** Too many bytes wait for the caller: the connection is to be cut. */
  readonly onUnsent: () => void;
  /** Processes the messages of all sessions. */
  readonly slices: TimeSlices;
  /** All messages that have arrived are processed. */
  readonly onProcessed: () => void;
  /** The caller broke the protocol: the connection is cut, and its address is to be refused. */
  readonly onOffence: (error: WireError) => void;
};

/** Stays below the number of messages at which a client disconnects. */
const PACE = { ...MAX_SERVER_MESSAGES, events: MAX_SERVER_MESSAGES.events - 5 };

/** Serves a socket until it ends. */
export function serveSession(socket: WebSocket, deps: SessionDeps): void {
  const { caller } = deps;
  let session = NEW_SESSION;
  /** Messages that wait for their turn, while the socket is paused. */
  let waiting = 0;
  let isRefused = false;
  // A separate forger sends requests in bursts, and does not count replies.
  const pacer = createPacer(caller.isTrusted ? { events: Infinity, windowMs: 0 } : PACE, (text) =>
    socket.send(text, () => {}),
  );
  const unsent = deps.unsent.watch(() => pacer.waitingLength() + socket.bufferedAmount, deps.onUnsent);

  const pings = setInterval(() => {
    session = pinged(session);
    send(PING);
  }, deps.times.pingInterval);
  const silence = setTimeout(() => socket.close(CLOSE_CODES.noPong), deps.times.pingTimeout);
  socket.on("close", () => {
    clearInterval(pings);
    clearTimeout(silence);
    pacer.close();
    unsent.forget();
  });
  socket.on("message", (data, isBinary) => {
    silence.refresh();
    if (socket.readyState !== socket.OPEN) return;
    waiting++;
    socket.pause();
    void deps.slices.run(process(data, isBinary, performance.now()), caller.address);
  });
  const refuseControl = () => react(new WireError("FRAME_CONTROL", "WebSocket pings and pongs are not used"));
  socket.on("ping", refuseControl);
  socket.on("pong", refuseControl);
  socket.on("error", ({ message }) => react(new WireError("FRAME_INVALID", message)));

  function* process(data: RawData, isBinary: boolean, at: number): Steps<void> {
    try {
      if (!isRefused) yield* receive(data, isBinary, at);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      react(error);
    } finally {
      if (--waiting === 0) {
        deps.onProcessed();
        socket.resume();
      }
    }
  }

  function react(error: WireError): void {
    isRefused = true;
    const reaction = serverReaction(error);
    if (reaction.kind === "close") {
      socket.close(reaction.closeCode);
    } else {
      socket.terminate();
      deps.onOffence(error);
    }
  }

  function* receive(data: RawData, isBinary: boolean, at: number): Steps<void> {
    if (isBinary) throw new WireError("FRAME_BINARY", "only text carries messages");
    const message = yield* readClientMessageGradually(String(data));
    session = advance(session, message, at);
    act(message, at);
  }

  function act(message: ClientMessage, at: number): void {
    if (message.kind === "handshake") {
      deps.onOpen();
      const { callId, hasToken } = message;
      if (hasToken) send(REMOVE_TOKEN);
      if (callId !== undefined) send(writeHandshakeReply(callId, newId(), hasToken));
    }
    if (message.kind !== "call") return;
    deps.rateLimits.count(caller.address, message.event, at);
    const refusal = refusalMessage(message, caller, deps.isReady());
    if (refusal === undefined) void execute(message);
    else if (message.callId !== undefined) send(writeFailure(message.callId, refusal));
  }

  async function execute(call: Call): Promise<void> {
    const reply = await deps.answer(call, caller).then(
      (result) => (callId: number) => writeReplyGradually(callId, call.event, result, deps.replyHeaders()),
      (error: unknown) => (callId: number) => writeFailure(callId, failureText(call, error)),
    );
    if (call.callId === undefined) return;
    const text = reply(call.callId);
    send(typeof text === "string" ? text : await deps.slices.run(text, caller.address));
  }

  function send(text: string): void {
    if (socket.readyState === socket.OPEN && unsent.hasCapacity(text.length)) pacer.send(text);
  }
}

const failureText = ({ event }: Call, error: unknown): string =>
  error instanceof ReplyError
    ? error.message
    : unexpectedFailure(event, error instanceof Error ? error.message : String(error));

/** 20 characters of URL-safe base64, as old nodes send. */
const newId = (): string => randomBytes(15).toString("base64url");
