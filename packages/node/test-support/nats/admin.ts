/** The administrator's view of the streams of a server, for tests. */
import { Connector, PUBLIC_TARGETS } from "../../src/webhooks/connections/guard.ts";
import {
  GuardedTransport,
  natsLibrary,
  openServerStream,
  type TransportOptions,
} from "../../src/webhooks/nats/server-stream.ts";
import { WAIT_MS } from "../process/until.ts";

export type StreamConfig = {
  readonly name: string;
  readonly subjects: string[];
  /** Time within which the server drops copies. */
  readonly duplicateMs?: number;
  /** Maximum of messages; the server refuses further ones. */
  readonly maxMessages?: number;
};

export type StreamMessage = {
  readonly sequence: number;
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type StreamAdmin = {
  create(config: StreamConfig): Promise<void>;
  /** Creates a stream from the JSON of its configuration. */
  createFrom(json: string): Promise<void>;
  /** Returns the messages of a stream in order, of one subject if it is given. */
  messages(stream: string, subject?: string): Promise<StreamMessage[]>;
  publish(subject: string, count?: number): Promise<void>;
  purge(stream: string): Promise<void>;
  /** Subscribes to a subject without a stream; replies to each message with the text, if it is given. */
  subscribe(subject: string, reply?: string): void;
  close(): Promise<void>;
};

const NANOSECONDS_PER_MS = 1_000_000;

export async function openAdmin(port: number, password: string): Promise<StreamAdmin> {
  const { NatsConnectionImpl, setTransportFactory, jetstream, jetstreamManager } = natsLibrary();
  const connector = new Connector({
    ...PUBLIC_TARGETS,
    allowPrivateTargets: true,
    connectTimeoutMs: WAIT_MS,
  });
  const server = { host: "127.0.0.1", port, isSecure: false };
  const options: TransportOptions = {
    ...{ servers: `127.0.0.1:${port}`, user: "admin", pass: password, reconnect: false, resolve: false },
    openStream: () => openServerStream(connector, server, AbortSignal.timeout(WAIT_MS)),
    budget: { remainingBytes: Number.MAX_SAFE_INTEGER },
  };
  setTransportFactory({ factory: () => new GuardedTransport() });
  const connection = await NatsConnectionImpl.connect(options);
  const { streams } = await jetstreamManager(connection, { timeout: WAIT_MS });
  const publisher = jetstream(connection, { timeout: WAIT_MS });
  return {
    async create({ name, subjects, duplicateMs, maxMessages }) {
      await streams.add({
        name,
        subjects,
        ...(duplicateMs !== undefined && { duplicate_window: duplicateMs * NANOSECONDS_PER_MS }),
        ...(maxMessages !== undefined && { max_msgs: maxMessages, discard: "new" }),
      });
    },
    createFrom: async (json) => void (await streams.add(JSON.parse(json))),
    async messages(stream, subject) {
      const { state } = await streams.info(stream);
      const messages: StreamMessage[] = [];
      for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
        const message = await streams.getMessage(stream, { seq });
        if (!message || (subject !== undefined && message.subject !== subject)) continue;
        messages.push({
          sequence: message.seq,
          subject: message.subject,
          headers: Object.fromEntries([...message.header].map(([name, [value = ""]]) => [name, value])),
          body: message.string(),
        });
      }
      return messages;
    },
    async publish(subject, count = 1) {
      for (let index = 0; index < count; index++) await publisher.publish(subject, "other");
    },
    purge: async (stream) => void (await streams.purge(stream)),
    subscribe(subject, reply) {
      connection.subscribe(subject, {
        callback: (_error, message) => {
          if (reply !== undefined) message.respond(reply);
        },
      });
    },
    close: () => connection.close(),
  };
}
