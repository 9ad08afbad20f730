/**
 * The operations of JetStream that deliveries use, on one connection: a transport of the NATS library over a guarded
 * connection, with a bound on what the server sends.
 */

import { isIP } from "node:net";
import { present } from "../../platform/present.ts";
import type { NatsTarget } from "../model/targets.ts";
import { isDisconnection } from "./failure.ts";
import {
  type ConnectionOptions,
  createProtocolCheck,
  type MsgRequest,
  type NatsConnection,
  natsLibrary,
  type PubAck,
  protocolError,
  type ReceiveBudget,
  type ServerStream,
  type StoredMsg,
  type Transport,
} from "./server-stream.ts";

export type StreamMessage = {
  /** Value of `Nats-Msg-Id`: the server stores an id once within the duplicate window of the stream, even if it was purged since. */
  readonly id: string;
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type Acknowledgement = {
  readonly stream: string;
  /** Sequence of the stored message in its stream. */
  readonly sequence: number;
  /** True if an earlier attempt has stored the message. */
  readonly isDuplicate: boolean;
};

/** A message of a stream. `id`: its `Nats-Msg-Id`; empty if it has none. */
export type StoredMessage = { readonly stream: string; readonly sequence: number; readonly id: string };

/** All calls reject with errors of the library; see `toFailure`. */
export type StreamClient = {
  /**
   * Resolves when the stream has the message.
   *
   * @param after sequence of the last message of the subject, 0 if there is none: the server refuses the message if it has
   *   another one; undefined: no condition
   */
  publish(message: StreamMessage, after?: number): Promise<Acknowledgement>;
  /** Returns the last message of a subject. */
  last(subject: string): Promise<StoredMessage | undefined>;
  /** Returns the first message of a subject with at least this sequence. */
  next(stream: string, subject: string, sequence: number): Promise<StoredMessage | undefined>;
  /** Settles when the connection has ended, and never rejects. */
  readonly closed: Promise<unknown>;
  close(): Promise<void>;
};

type StreamClientOptions = {
  readonly name: string;
  /** Timeout of the handshake, and of each request. */
  readonly timeoutMs: number;
};

/** The server also accepts a sequence and a subject, which the type of the library omits. */
type MessageQuery = MsgRequest & { readonly next_by_subj?: string };

/** Maximum bytes that the server sends for a request: a stored message in base64, and its headers. */
const MAX_REPLY_BYTES = 2_097_152;
const MESSAGE_ID = "Nats-Msg-Id";
/** Maximum of copies of one message that were purged within the duplicate window. */
const MAX_PURGED = 10;

export async function openStreamClient(
  { host, port, credentials }: NatsTarget,
  openStream: () => Promise<ServerStream>,
  { name, timeoutMs }: StreamClientOptions,
): Promise<StreamClient> {
  const budget: ReceiveBudget = { remainingBytes: MAX_REPLY_BYTES };
  const options: TransportOptions = {
    servers: isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`,
    ...credentials,
    name,
    timeout: timeoutMs,
    // The transport resolves and checks the host; other servers of a cluster are not targets.
    resolve: false,
    ignoreClusterUpdates: true,
    // Retries are those of deliveries.
    reconnect: false,
    noAsyncTraces: true,
    openStream,
    budget,
  };
  const { NatsConnectionImpl, setTransportFactory } = natsLibrary();
  setTransportFactory({ factory: createTransport });
  return createStreamClient(await NatsConnectionImpl.connect(options), timeoutMs, () => {
    budget.remainingBytes = MAX_REPLY_BYTES;
  });
}

function createStreamClient(
  connection: NatsConnection,
  timeout: number,
  renewBudget: () => void,
): StreamClient {
  const { headers: createHeaders, jetstream, jetstreamManager } = natsLibrary();
  const publisher = jetstream(connection, { timeout });
  const manager = jetstreamManager(connection, { timeout, checkAPI: false });

  /** Runs a request. If it fails because the connection ended, throws the cause. */
  async function request<T>(run: () => Promise<T>): Promise<T> {
    renewBudget();
    try {
      return await run();
    } catch (error) {
      const cause = isDisconnection(error) ? await connection.closed() : undefined;
      throw cause instanceof Error ? cause : error;
    }
  }

  const find = (stream: string, query: MessageQuery) =>
    request(async () => {
      const message = await (await manager).streams.getMessage(stream, query);
      return message === null ? undefined : toStoredMessage(stream, message);
    });

  async function publishOnce(msgID: string, { subject, headers, body }: StreamMessage, after?: number) {
    const all = createHeaders();
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    return toAcknowledgement(
      await publisher.publish(subject, body, {
        ...{ msgID, headers: all, timeout },
        ...(after !== undefined && { expect: { lastSubjectSequence: after } }),
      }),
    );
  }

  /** If the user of the target may not read messages, the acknowledgement counts. */
  const isStored = (stream: string, sequence: number): Promise<boolean> =>
    find(stream, { seq: sequence }).then(
      (found) => found !== undefined,
      () => true,
    );

  return {
    publish: (message, after) =>
      request(() => untilStored(message.id, (id) => publishOnce(id, message, after), isStored)),
    async last(subject) {
      const stream = await request(async () => (await manager).streams.find(subject));
      return find(stream, { last_by_subj: subject });
    },
    next: (stream, subject, sequence) => find(stream, { seq: sequence, next_by_subj: subject }),
    closed: connection.closed(),
    close: () => connection.close(),
  };
}

/**
 * Publishes until the stream has the message. Trap: the server knows an id for its window, although its message was purged or
 * deleted since; such a message gets another id.
 */
async function untilStored(
  messageId: string,
  publish: (id: string) => Promise<Acknowledgement>,
  isStored: (stream: string, sequence: number) => Promise<boolean>,
): Promise<Acknowledgement> {
  let id = messageId;
  for (let copies = 0; copies < MAX_PURGED; copies++) {
    const acknowledgement = await publish(id);
    const { stream, sequence, isDuplicate } = acknowledgement;
    if (!isDuplicate || (await isStored(stream, sequence))) return acknowledgement;
    id = `${messageId}:${sequence}`;
  }
  throw protocolError("the server acknowledges messages that its stream does not have");
}

/** @throws {CodedError} if the reply has another form: every subscriber of the subject can reply */
function toAcknowledgement({ stream, seq, duplicate }: PubAck): Acknowledgement {
  if (typeof stream !== "string" || !Number.isSafeInteger(seq)) {
    throw protocolError("the reply is not an acknowledgement of a stream");
  }
  return { stream, sequence: seq, isDuplicate: duplicate === true };
}

function toStoredMessage(stream: string, { seq, header }: StoredMsg): StoredMessage {
  if (!Number.isSafeInteger(seq)) throw protocolError("the reply is not a message of a stream");
  return { stream, sequence: seq, id: header.get(MESSAGE_ID) };
}

/** Cost of a read, whose few bytes would hide its CPU time. */
const MIN_READ_BYTES = 256;

/** Options of a connection. The library creates transports without arguments, and passes these options to `connect`. */
export type TransportOptions = ConnectionOptions & {
  readonly openStream: () => Promise<ServerStream>;
  readonly budget: ReceiveBudget;
};

type Opened = ServerStream & Pick<TransportOptions, "budget">;
type OwnTransport = { -readonly [Name in keyof Transport]: Transport[Name] };

export function createTransport(): Transport {
  const closed = Promise.withResolvers<Error | undefined>();
  let opened: Opened | undefined;

  function end(error?: Error): void {
    if (transport.isClosed) return;
    transport.isClosed = true;
    if (error) transport.closeError = error;
    opened?.socket.destroy();
    // The library learns from a failed `connect` that a connection was never open.
    if (opened) closed.resolve(error);
  }

  /** Yields the bytes of the server; the connection ends with the reads. */
  async function* read(): AsyncIterableIterator<Uint8Array> {
    let failure: Error | undefined;
    try {
      yield* readBounded(present(opened, "the connection"));
    } catch (error) {
      failure = error as Error;
    } finally {
      end(failure);
    }
  }

  const transport: OwnTransport = {
    lang: "uniknode",
    version: "1.0.0",
    isClosed: false,
    async connect(_server, options) {
      const { openStream, budget } = options as TransportOptions;
      const stream = await openStream();
      if (transport.isClosed) stream.socket.destroy();
      else opened = { ...stream, budget };
    },
    [Symbol.asyncIterator]: read,
    isEncrypted: () => opened !== undefined && "encrypted" in opened.socket,
    // A failed write ends the reads, which report the error.
    send: (frame) => void opened?.socket.write(frame),
    close: async (error) => end(error),
    disconnect: () => end(),
    discard: () => end(),
    closed: () => closed.promise,
  };
  return transport;
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
