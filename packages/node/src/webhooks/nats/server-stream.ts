/**
 * Connections to NATS servers: a transport of the library over the guard of all deliveries. The library's own transport has no guard,
 * no bound on the greeting, and leaves the socket of a silent server open. What a server sends is checked before the library parses
 * it, because the library prints errors of its parser to the standard output.
 */
import { createRequire } from "node:module";
import { isIP, type Socket } from "node:net";
import type { ConnectionOptions, ParserEvent, Transport } from "@nats-io/nats-core/internal";
import { CodedError } from "../../platform/coded-error.ts";
import { parseExternal } from "../../platform/json/external.ts";
import { formOf } from "../../platform/json/form.ts";
import { type Static, Type } from "../../platform/json/schema.ts";
import { present } from "../../platform/present.ts";
import { type Connector, openEncrypted } from "../connections/guard.ts";
import type { NatsTarget } from "../model/targets.ts";

export type { MsgRequest, PubAck, StoredMsg } from "@nats-io/jetstream";
export type { NatsConnection } from "@nats-io/nats-core/internal";

export type NatsLibrary = typeof import("@nats-io/nats-core/internal") &
  Pick<typeof import("@nats-io/jetstream"), "jetstream" | "jetstreamManager">;

const load = createRequire(import.meta.url);
let library: NatsLibrary | undefined;

/** Loads the NATS client with the first delivery to a NATS server; only this file names its packages. */
export function natsLibrary(): NatsLibrary {
  library ??= { ...load("@nats-io/nats-core/internal"), ...load("@nats-io/jetstream") } as NatsLibrary;
  return library;
}

const Info = Type.Object({
  version: Type.String({ pattern: "^\\d+\\.\\d+\\.\\d+", maxLength: 100 }),
  max_payload: Type.Integer({ minimum: 1 }),
  headers: Type.Literal(true),
  tls_required: Type.Optional(Type.Boolean()),
  tls_available: Type.Optional(Type.Boolean()),
});
const INFO = formOf(Info);

/** Maximum size of the description that a server sends of itself; that of a server without a cluster has 500 bytes. */
const MAX_INFO_BYTES = 32_768;
const INFO_BOUNDS = { maxCharacters: MAX_INFO_BYTES, maxDepth: 8, maxValues: 4_000 };

/** @throws {ExternalDataError} */
const parseInfo = (text: string): Static<typeof Info> => parseExternal(text, INFO, INFO_BOUNDS);

/** Bytes that the server can still send before the connection ends; each request renews them. */
export type ReceiveBudget = { remainingBytes: number };

/** Cost of an operation of the protocol, and of a description, beside their bytes: a ping has six bytes. */
const OPERATION_BYTES = 256;

/**
 * Creates a check for the bytes of one connection; it throws an error if they do not follow the protocol, or cost more than
 * the budget.
 */
function createProtocolCheck(budget: ReceiveBudget): (bytes: Uint8Array) => void {
  const { Kind, MsgHdrsImpl, Parser } = natsLibrary();
  const parser = new Parser({
    push(event) {
      const { kind, msg, data = new Uint8Array() } = event as ParserEvent;
      budget.remainingBytes -= kind === Kind.INFO ? MAX_INFO_BYTES : OPERATION_BYTES;
      if (budget.remainingBytes < 0) throw new Error("the server sends too much");
      if (kind === Kind.INFO) parseInfo(Buffer.from(data).toString());
      // Throws an error if a name of a header is invalid.
      if (kind === Kind.MSG && msg && msg.hdr > 0) MsgHdrsImpl.decode(data.subarray(0, msg.hdr));
    },
  });
  return (bytes) => parser.parse(bytes);
}

export type ServerStream = {
  readonly socket: Socket;
  /** The bytes that were read: the INFO line of the server. */
  readonly greeting: Uint8Array;
};

type Server = Pick<NatsTarget, "host" | "port" | "isSecure">;

/** Maximum reads of a greeting, which arrives in one or two. */
const MAX_READS = 256;
const GREETING = "INFO {";
const END_OF_LINE = "\r\n";

/**
 * Connects to a server, and encrypts the connection if the target or the server requires it.
 *
 * @param signal ends the connection until the promise settles
 */
export async function openServerStream(
  connector: Connector,
  server: Server,
  signal: AbortSignal,
): Promise<ServerStream> {
  // Servers greet in clear before the TLS handshake.
  const socket = await connector.connect({ ...server, isSecure: false }, signal);
  const end = () => socket.destroy(signal.reason);
  signal.addEventListener("abort", end, { once: true });
  try {
    signal.throwIfAborted();
    const greeting = await readGreeting(socket, server);
    return { greeting, socket: await encryptIfRequired(socket, greeting, server) };
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", end);
  }
}

export const protocolError = (reason: string) =>
  new CodedError("NATS_PROTOCOL", reason, { isRetryable: true });

function readGreeting(socket: Socket, { host, port }: Server): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    let read = Buffer.alloc(0);
    let reads = 0;
    const settle = (error?: unknown) => {
      socket.pause().off("data", onData).off("error", settle).off("close", onClose);
      if (error === undefined) resolve(read);
      else reject(error);
    };
    const onClose = () => settle(protocolError("the server closed the connection before its greeting"));
    const onData = (chunk: Buffer) => {
      read = Buffer.concat([read, chunk]);
      const isGreeting = GREETING.startsWith(read.subarray(0, GREETING.length).toString("latin1"));
      if (!isGreeting || read.length > MAX_INFO_BYTES || ++reads > MAX_READS) {
        settle(protocolError(`no NATS server at ${host}:${port}: it sent another greeting`));
      } else if (read.includes(END_OF_LINE)) settle();
    };
    socket.on("data", onData).on("error", settle).on("close", onClose);
  });
}

async function encryptIfRequired(socket: Socket, greeting: Uint8Array, server: Server): Promise<Socket> {
  const info = readInfo(greeting);
  if (info.tls_required || (server.isSecure && info.tls_available)) return encrypt(socket, server);
  if (!server.isSecure) return socket;
  throw protocolError("the server does not offer TLS: use nats:// if the network is trusted");
}

function readInfo(greeting: Uint8Array): ReturnType<typeof parseInfo> {
  const [line = ""] = Buffer.from(greeting).toString().split(END_OF_LINE);
  try {
    return parseInfo(line.slice(GREETING.length - 1));
  } catch (error) {
    throw protocolError(`the greeting of the server cannot be read: ${(error as Error).message}`);
  }
}

function encrypt(socket: Socket, { host }: Server): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const encrypted = openEncrypted(
      { socket, host, ...(isIP(host) === 0 && { servername: host }) },
      () => {},
    );
    // The error of a later end is reported by the iterator of its data.
    encrypted.on("error", reject);
    encrypted.once("close", () =>
      reject(protocolError("the server closed the connection during the TLS handshake")),
    );
    encrypted.once("secureConnect", () => resolve(encrypted));
  });
}

/** Cost of a read, whose few bytes would hide its CPU time. */
const MIN_READ_BYTES = 256;

/** Options of a connection. The library creates transports without arguments, and passes these options to `connect`. */
export type TransportOptions = ConnectionOptions & {
  readonly openStream: () => Promise<ServerStream>;
  readonly budget: ReceiveBudget;
};

type Opened = ServerStream & Pick<TransportOptions, "budget">;

/** The transport of one connection, which the library creates. */
export class GuardedTransport implements Transport {
  readonly lang = "uniknode";
  readonly version = "1.0.0";
  isClosed = false;
  closeError?: Error;
  readonly #closed = Promise.withResolvers<Error | undefined>();
  #opened: Opened | undefined;

  async connect(_server: unknown, options: ConnectionOptions): Promise<void> {
    const { openStream, budget } = options as TransportOptions;
    const stream = await openStream();
    if (this.isClosed) stream.socket.destroy();
    else this.#opened = { ...stream, budget };
  }

  /** Yields the bytes of the server; the connection ends with the reads. */
  async *[Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array> {
    let failure: Error | undefined;
    try {
      yield* readBounded(present(this.#opened, "the connection"));
    } catch (error) {
      failure = error as Error;
    } finally {
      this.#end(failure);
    }
  }

  isEncrypted(): boolean {
    return this.#opened !== undefined && "encrypted" in this.#opened.socket;
  }

  /** A failed write ends the reads, which report the error. */
  send(frame: Uint8Array): void {
    this.#opened?.socket.write(frame);
  }

  async close(error?: Error): Promise<void> {
    this.#end(error);
  }

  disconnect(): void {
    this.#end();
  }

  discard(): void {
    this.#end();
  }

  closed(): Promise<Error | undefined> {
    return this.#closed.promise;
  }

  #end(error?: Error): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (error) this.closeError = error;
    this.#opened?.socket.destroy();
    // The library learns from a failed `connect` that a connection was never open.
    if (this.#opened) this.#closed.resolve(error);
  }
}

async function* readBounded({ greeting, socket, budget }: Opened): AsyncIterableIterator<Uint8Array> {
  const check = createProtocolCheck(budget);
  function checked(bytes: Uint8Array): Uint8Array {
    let isOfProtocol = true;
    try {
      check(bytes);
    } catch {
      isOfProtocol = false;
    }
    if (budget.remainingBytes < 0) throw protocolError("the server sent more than the reply to a request");
    if (!isOfProtocol) throw protocolError("the server sent bytes that are not part of the protocol");
    return bytes;
  }

  yield checked(greeting);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    budget.remainingBytes -= Math.max(chunk.length, MIN_READ_BYTES);
    yield checked(chunk);
  }
}
