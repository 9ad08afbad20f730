/** An incoming connection: reads its messages, sends replies and pings (p2p.md 4 and 6). */
import { randomBytes } from "node:crypto";
import type { Steps, TimeSlices } from "../../platform/threads/time-slices.ts";
import { Pacer, type RateLimits } from "../guards/rate-limits.ts";
import {
  advance,
  type Call,
  type ClientMessage,
  checkLength,
  NEW_SESSION,
  pinged,
  type ReplyHeaders,
  readClientMessageGradually,
  type Session,
} from "../wire/client-messages.ts";
import { decodeText } from "../wire/codec.ts";
import { isInternal } from "../wire/events.ts";
import { MAX_SERVER_MESSAGES } from "../wire/limits.ts";
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
import type { Unsent, Watched } from "./memory-bounds.ts";
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

type Frame = { readonly data: Buffer; readonly isBinary: boolean; readonly at: number };

/** Serves a socket until it ends. */
export class IncomingSession {
  readonly #socket: WebSocket;
  readonly #deps: SessionDeps;
  readonly #pacer: Pacer;
  readonly #watchedUnsent: Watched;
  #session: Session = NEW_SESSION;
  /** Messages that wait for their turn, while the socket is paused. */
  #waiting = 0;
  #isRefused = false;

  constructor(socket: WebSocket, deps: SessionDeps) {
    this.#socket = socket;
    this.#deps = deps;
    // A separate forger sends requests in bursts, and does not count replies.
    this.#pacer = new Pacer(deps.caller.isTrusted ? { events: Infinity, windowMs: 0 } : PACE, (text) =>
      socket.send(text, () => {}),
    );
    const unsentLength = () => this.#pacer.waitingLength() + socket.bufferedAmount;
    this.#watchedUnsent = deps.unsent.watch(unsentLength, deps.onUnsent);
    this.#watchSilence();
    const refuseControl = () =>
      this.#react(new WireError("FRAME_CONTROL", "WebSocket pings and pongs are not used"));
    socket.on("ping", refuseControl);
    socket.on("pong", refuseControl);
    socket.on("error", ({ message }) => this.#react(new WireError("FRAME_INVALID", message)));
  }

  /** Pings the caller, reads its messages, and closes the connection after its silence. */
  #watchSilence(): void {
    const socket = this.#socket;
    const { times, slices, caller } = this.#deps;
    const pings = setInterval(() => {
      this.#session = pinged(this.#session);
      this.#send(PING);
    }, times.pingInterval);
    const silence = setTimeout(() => socket.close(CLOSE_CODES.noPong), times.pingTimeout);
    socket.on("close", () => {
      clearInterval(pings);
      clearTimeout(silence);
      this.#pacer.close();
      this.#watchedUnsent.forget();
    });
    socket.on("message", (data, isBinary) => {
      silence.refresh();
      if (socket.readyState !== socket.OPEN) return;
      this.#waiting++;
      socket.pause();
      // The socket passes a Buffer, whatever its type says.
      const frame = { data: data as Buffer, isBinary, at: performance.now() };
      void slices.run(this.#process(frame), caller.address);
    });
  }

  *#process(frame: Frame): Steps<void> {
    try {
      if (!this.#isRefused) yield* this.#receive(frame);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#react(error);
    } finally {
      if (--this.#waiting === 0) {
        this.#deps.onProcessed();
        this.#socket.resume();
      }
    }
  }

  #react(error: WireError): void {
    this.#isRefused = true;
    const reaction = serverReaction(error);
    if (reaction.kind === "close") {
      this.#socket.close(reaction.closeCode);
    } else {
      this.#socket.terminate();
      this.#deps.onOffence(error);
    }
  }

  *#receive({ data, isBinary, at }: Frame): Steps<void> {
    if (isBinary) throw new WireError("FRAME_BINARY", "only text carries messages");
    checkLength(data, this.#session, this.#deps.maxBytes);
    const message = yield* readClientMessageGradually(yield* decodeText(data));
    this.#session = advance(this.#session, message, at);
    this.#act(message, at);
  }

  #act(message: ClientMessage, at: number): void {
    const { caller } = this.#deps;
    if (message.kind === "handshake") {
      this.#deps.onOpen();
      const { callId, hasToken } = message;
      if (hasToken) this.#send(REMOVE_TOKEN);
      if (callId !== undefined) this.#send(writeHandshakeReply(callId, newId(), hasToken));
    }
    if (message.kind !== "call") return;
    this.#deps.rateLimits.count(caller.address, message.event, at);
    const refusal = refusalMessage(message, caller, this.#deps.isReady());
    if (refusal === undefined) void this.#execute(message);
    else if (message.callId !== undefined) this.#send(writeFailure(message.callId, refusal));
  }

  async #execute(call: Call): Promise<void> {
    const { caller, slices, handle, replyHeaders } = this.#deps;
    const reply = await handle(call, caller).then(
      (result) => (callId: number) => writeReplyGradually(callId, call.event, result, replyHeaders()),
      (error: unknown) => (callId: number) => writeFailure(callId, failureText(call, error)),
    );
    if (call.callId === undefined) return;
    const text = reply(call.callId);
    this.#send(typeof text === "string" ? text : await slices.run(text, caller.address));
  }

  #send(text: string): void {
    if (this.#socket.readyState === this.#socket.OPEN && this.#watchedUnsent.hasCapacity(text.length))
      this.#pacer.send(text);
  }
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
