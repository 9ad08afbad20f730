/** The operations of JetStream that deliveries use, on one connection. */

import { isIP } from "node:net";
import type { NatsTarget } from "../model/targets.ts";
import { isDisconnection } from "./failure.ts";
import {
  GuardedTransport,
  type MsgRequest,
  type NatsConnection,
  type NatsLibrary,
  natsLibrary,
  type PubAck,
  protocolError,
  type ReceiveBudget,
  type ServerStream,
  type StoredMsg,
  type TransportOptions,
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

type StreamClientOptions = {
  readonly name: string;
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
  setTransportFactory({ factory: () => new GuardedTransport() });
  return new StreamClient(await NatsConnectionImpl.connect(options), budget, timeoutMs);
}

/** One connection. All calls reject with errors of the library; see `toFailure`. */
export class StreamClient {
  /** Settles when the connection has ended, and never rejects. */
  readonly closed: Promise<unknown>;
  readonly #connection: NatsConnection;
  readonly #budget: ReceiveBudget;
  readonly #timeoutMs: number;
  readonly #publisher: ReturnType<NatsLibrary["jetstream"]>;
  readonly #manager: ReturnType<NatsLibrary["jetstreamManager"]>;

  constructor(connection: NatsConnection, budget: ReceiveBudget, timeout: number) {
    const { jetstream, jetstreamManager } = natsLibrary();
    this.#connection = connection;
    this.#budget = budget;
    this.#timeoutMs = timeout;
    this.#publisher = jetstream(connection, { timeout });
    this.#manager = jetstreamManager(connection, { timeout, checkAPI: false });
    this.closed = connection.closed();
  }

  /**
   * Resolves when the stream has the message.
   *
   * @param after sequence of the last message of the subject, 0 if there is none: the server refuses the message if it has
   *   another one; undefined: no condition
   */
  publish(message: StreamMessage, after?: number): Promise<Acknowledgement> {
    return this.#request(() =>
      untilStored(
        message.id,
        (id) => this.#publishOnce(id, message, after),
        (stream, sequence) => this.#isStored(stream, sequence),
      ),
    );
  }

  async last(subject: string): Promise<StoredMessage | undefined> {
    const stream = await this.#request(async () => (await this.#manager).streams.find(subject));
    return this.#find(stream, { last_by_subj: subject });
  }

  /** Returns the first message of a subject with at least this sequence. */
  next(stream: string, subject: string, sequence: number): Promise<StoredMessage | undefined> {
    return this.#find(stream, { seq: sequence, next_by_subj: subject });
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Runs a request. If it fails because the connection ended, throws the cause. */
  async #request<T>(run: () => Promise<T>): Promise<T> {
    this.#budget.remainingBytes = MAX_REPLY_BYTES;
    try {
      return await run();
    } catch (error) {
      const cause = isDisconnection(error) ? await this.closed : undefined;
      throw cause instanceof Error ? cause : error;
    }
  }

  #find(stream: string, query: MessageQuery): Promise<StoredMessage | undefined> {
    return this.#request(async () => {
      const message = await (await this.#manager).streams.getMessage(stream, query);
      return message === null ? undefined : toStoredMessage(stream, message);
    });
  }

  async #publishOnce(msgID: string, { subject, headers, body }: StreamMessage, after?: number) {
    const all = natsLibrary().headers();
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    return toAcknowledgement(
      await this.#publisher.publish(subject, body, {
        ...{ msgID, headers: all, timeout: this.#timeoutMs },
        ...(after !== undefined && { expect: { lastSubjectSequence: after } }),
      }),
    );
  }

  /** If the user of the target may not read messages, the acknowledgement counts. */
  #isStored(stream: string, sequence: number): Promise<boolean> {
    return this.#find(stream, { seq: sequence }).then(
      (found) => found !== undefined,
      () => true,
    );
  }
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
