/** An outgoing connection: the client side of the protocol (p2p.md 3, 4 and 16). */
import type { ClientRequest } from "node:http";
import { isIP, type Socket } from "node:net";
import { type Steps, TimeSlices } from "../../platform/threads/time-slices.ts";
import { WindowCounter } from "../guards/rate-limits.ts";
import {
  HANDSHAKE_CALL_ID,
  PONG,
  writeCall,
  writeDisconnect,
  writeHandshake,
} from "../wire/client-messages.ts";
import { decodeText } from "../wire/codec.ts";
import type { ArgumentOf, EventName } from "../wire/events.ts";
import {
  CLIENT_MESSAGE_BYTES,
  MAX_FRAGMENTS,
  MAX_SERVER_MESSAGES,
  MESSAGE_SLICE_MS,
  TIMES_MS,
} from "../wire/limits.ts";
import {
  maxReplyValues,
  readHandshakeReply,
  readReply,
  readServerMessageGradually,
  type ServerMessage,
} from "../wire/server-messages.ts";
import { CLOSE_CODES, WireError } from "../wire/wire-error.ts";
import { type CallLimits, PeerError, PendingCalls } from "./calls.ts";
import { Unfinished } from "./memory-bounds.ts";
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
  /** Bounds the bytes of incomplete and waiting messages of several connections; only those of this one are bounded if absent. */
  readonly unfinished?: Unfinished;
  /** Timeout of the handshake, after the peer has accepted the connection; `TIMES_MS.connect` if absent. */
  readonly handshakeMs?: number;
  /** Ends the attempt to connect; without effect on a connection. */
  readonly signal?: AbortSignal;
};

/** Tolerance for network jitter: messages may arrive closer to each other than they were sent. */
const JITTER_MS = 300;

/**
 * Connects and performs the handshake.
 *
 * @throws {PeerError} PEER_UNREACHABLE, PEER_PROTOCOL
 */
export function connectPeer(endpoint: Endpoint): Promise<Connection> {
  const { address, port, signal } = endpoint;
  const socket = openSocket(endpoint);
  const connection = new Connection(socket, endpoint);
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
      connection.shakeHands().then(() => {
        ignoreSignal();
        resolve(connection);
      }, unreachable);
    });
  });
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
    maxFragments: MAX_FRAGMENTS,
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

/** Properties of a message when it arrives: later, its call may have timed out. */
type Arrival = { readonly isBinary: boolean; readonly at: number; readonly maxValues: number };

function* readGradually(data: Buffer, maxValues: number): Steps<ServerMessage> {
  return yield* readServerMessageGradually(yield* decodeText(data), maxValues);
}

export class Connection {
  /** Settles when the connection has ended, with the rule of the protocol that the peer broke, if any. */
  readonly ended: Promise<WireError | undefined>;
  readonly #address: string;
  readonly #socket: WebSocket;
  readonly #calls: PendingCalls;
  readonly #slices: TimeSlices;
  /** Counts the messages of the peer. */
  readonly #messages = new WindowCounter(MAX_SERVER_MESSAGES);
  readonly #end = Promise.withResolvers<WireError | undefined>();
  #lastCallId = HANDSHAKE_CALL_ID;
  /** Milliseconds of a monotonic clock. */
  #lastPongAt = Number.NEGATIVE_INFINITY;
  /** The first rule that the peer broke. */
  #violation: WireError | undefined;
  /** Messages that wait for their turn, while the socket is paused. */
  #waiting = 0;
  /** Called when all messages that have arrived are processed. */
  #onProcessed = () => {};
  /** Ends the connection if the peer does not ping in time; before that, if the handshake takes too long. */
  #silence: NodeJS.Timeout;

  /** @param socket begins to connect */
  constructor(socket: WebSocket, endpoint: Endpoint) {
    const { address, slices, handshakeMs = TIMES_MS.connect } = endpoint;
    this.ended = this.#end.promise;
    this.#address = address;
    this.#socket = socket;
    this.#calls = new PendingCalls(address, socket);
    this.#slices = slices ?? new TimeSlices({ sliceMs: MESSAGE_SLICE_MS });
    this.#silence = setTimeout(() => socket.terminate(), TIMES_MS.connect + handshakeMs);
    this.#listenToPeer(endpoint);
  }

  async shakeHands(): Promise<void> {
    const limits = { timeoutMs: TIMES_MS.smallReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
    const { pingTimeoutMs } = readHandshakeReply(
      await this.#calls.send(HANDSHAKE_CALL_ID, writeHandshake(), limits),
    );
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#socket.close(CLOSE_CODES.noPing), pingTimeoutMs);
  }

  /**
   * The result of a call, not validated yet, and the height in the headers of the reply.
   *
   * @throws {PeerError}
   */
  async call<E extends EventName>(event: E, argument: ArgumentOf<E>, limits: CallLimits) {
    const address = this.#address;
    if (this.#socket.readyState !== this.#socket.OPEN)
      throw new PeerError("PEER_GONE", `${address} is not connected`);
    const callId = ++this.#lastCallId;
    const maxValues = maxReplyValues(event, argument);
    const data = await this.#calls.send(callId, writeCall(event, argument, callId), { ...limits, maxValues });
    try {
      return readReply(data);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#failProtocol(error.code, error.message);
      throw new PeerError("PEER_PROTOCOL", error.message, { cause: error });
    }
  }

  /** Announces the end. The connection has ended soon after, whatever the peer does. */
  close(): void {
    const socket = this.#socket;
    if (socket.readyState === socket.OPEN) {
      socket.send(writeDisconnect(CLOSE_CODES.normal), () => {});
      socket.close(CLOSE_CODES.normal);
    } else socket.terminate();
  }

  #listenToPeer({ onSocket, unfinished = new Unfinished({ maxTotalBytes: Infinity }) }: Endpoint): void {
    const socket = this.#socket;
    socket.on("upgrade", ({ socket: wire }) => {
      onSocket?.(wire);
      const onTooLong = () =>
        this.#failProtocol("FRAME_INVALID", "a reply is too long, or too many are incomplete");
      this.#onProcessed = unfinished.watch(wire, () => this.#calls.maxBytes(), onTooLong);
    });
    socket.on("message", (data, isBinary) => {
      if (this.#violation) return;
      this.#waiting++;
      socket.pause();
      const arrival = { isBinary, at: performance.now(), maxValues: this.#calls.maxValues() };
      void this.#slices.run(this.#process(data as Buffer, arrival), this.#address);
    });
    const refuseControl = () => this.#failProtocol("FRAME_CONTROL", "WebSocket pings and pongs are not used");
    socket.on("ping", refuseControl);
    socket.on("pong", refuseControl);
    socket.on("error", () => socket.terminate());
    socket.on("close", () => this.#onClose());
  }

  #onClose(): void {
    const address = this.#address;
    const violation = this.#violation;
    const ended = this.#end;
    clearTimeout(this.#silence);
    const error = violation
      ? new PeerError("PEER_PROTOCOL", violation.message, { cause: violation })
      : new PeerError("PEER_GONE", `${address} closed the connection`);
    this.#calls.failAll(error);
    ended.resolve(violation);
  }

  *#process(data: Buffer, { isBinary, at, maxValues }: Arrival): Steps<void> {
    try {
      if (this.#isOver()) return;
      if (isBinary) throw new WireError("FRAME_BINARY", "only text carries messages");
      if (!this.#messages.take("", at)) {
        throw new WireError("REPLIES_EXCEEDED", "a server sends too many messages at a time");
      }
      const message = yield* this.#whileOpen(readGradually(data, maxValues));
      if (message) this.#receive(message);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#failProtocol(error.code, error.message);
    } finally {
      if (--this.#waiting === 0) {
        this.#onProcessed();
        this.#socket.resume();
      }
    }
  }

  /** Returns the result of the steps. Performs no further ones after the end of the connection, when no call waits for it. */
  *#whileOpen<T>(steps: Steps<T>): Steps<T | undefined> {
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      yield;
      if (this.#isOver()) return undefined;
    }
  }

  #isOver(): boolean {
    return this.#violation !== undefined || this.#socket.readyState === this.#socket.CLOSED;
  }

  #failProtocol(code: WireError["code"], message: string): void {
    this.#violation ??= new WireError(code, message);
    this.#socket.terminate();
  }

  #receive(message: ServerMessage): void {
    switch (message.kind) {
      case "ping":
        this.#silence.refresh();
        this.#pong();
        break;
      case "disconnect":
        this.#socket.close(CLOSE_CODES.normal);
        break;
      case "reply":
      case "failure":
        this.#calls.settle(message);
    }
  }

  /** Pings that arrive together, as after a pause of this process, get one pong: a second one breaks the protocol. */
  #pong(): void {
    const now = performance.now();
    if (now - this.#lastPongAt < TIMES_MS.betweenPongs + JITTER_MS) return;
    this.#lastPongAt = now;
    this.#socket.send(PONG, () => {});
  }
}
