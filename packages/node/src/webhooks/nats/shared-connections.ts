/** Open connections to NATS servers: one for each server and user, shared by all webhooks, and closed after a time without calls. */
import type { NatsTarget } from "../model/targets.ts";
import type { StreamClient } from "./stream-client.ts";

export type SharedConnectionsDeps = {
  /** Opens a connection. */
  readonly open: (target: NatsTarget) => Promise<StreamClient>;
  readonly idleMs?: number;
  readonly maxIdle?: number;
};

type Connection = {
  readonly key: string;
  readonly client: Promise<StreamClient>;
  /** Number of running calls. */
  running: number;
  /** Closes the connection after a time without calls. */
  idle: NodeJS.Timeout | undefined;
};

/** Time without a call after which a connection is closed. */
const IDLE_MS = 10_000;
/** Maximum number of idle connections; beyond it, the connection that became idle first is closed. */
const MAX_IDLE = 32;

export class SharedConnections {
  readonly #deps: Required<SharedConnectionsDeps>;
  /** All open connections, in the order in which they became idle. */
  readonly #connections = new Set<Connection>();
  /** Connections for new calls, by server and user. */
  readonly #current = new Map<string, Connection>();

  constructor(deps: SharedConnectionsDeps) {
    this.#deps = { idleMs: IDLE_MS, maxIdle: MAX_IDLE, ...deps };
  }

  /** Runs the work with the connection to the server of a target. */
  async use<T>(target: NatsTarget, work: (client: StreamClient) => Promise<T>): Promise<T> {
    const connection = this.#connectionTo(target);
    clearTimeout(connection.idle);
    connection.idle = undefined;
    connection.running++;
    try {
      return await work(await connection.client);
    } finally {
      this.#leave(connection);
    }
  }

  /** Gives later calls a new connection; calls that are running keep theirs. */
  retire(target: NatsTarget): void {
    const connection = this.#current.get(keyOf(target));
    if (!connection) return;
    this.#current.delete(connection.key);
    if (connection.running === 0) void this.#end(connection);
  }

  /** Returns the number of open connections. */
  size(): number {
    return this.#connections.size;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections].map((connection) => this.#end(connection)));
  }

  #connectionTo(target: NatsTarget): Connection {
    const key = keyOf(target);
    const known = this.#current.get(key);
    if (known) return known;
    const connection: Connection = { key, client: this.#deps.open(target), running: 0, idle: undefined };
    this.#connections.add(connection);
    this.#current.set(key, connection);
    const forget = () => {
      this.#connections.delete(connection);
      this.#release(connection);
    };
    connection.client.then(({ closed }) => closed).then(forget, forget);
    return connection;
  }

  /** Ends a call: its connection becomes idle, or is closed if it was retired. */
  #leave(connection: Connection): void {
    const { idleMs, maxIdle } = this.#deps;
    connection.running--;
    if (connection.running > 0 || !this.#connections.delete(connection)) return;
    this.#connections.add(connection);
    if (this.#current.get(connection.key) !== connection) {
      void this.#end(connection);
      return;
    }
    connection.idle = setTimeout(() => void this.#end(connection), idleMs);
    const idle = [...this.#connections].filter((each) => each.idle !== undefined);
    const [oldest] = idle;
    if (oldest && idle.length > maxIdle) void this.#end(oldest);
  }

  /** Closes a connection that is open, or as soon as it is open; later calls get another one. */
  #end(connection: Connection): Promise<void> {
    this.#release(connection);
    return connection.client.then(
      (client) => client.close(),
      () => {},
    );
  }

  #release(connection: Connection): void {
    clearTimeout(connection.idle);
    connection.idle = undefined;
    if (this.#current.get(connection.key) === connection) this.#current.delete(connection.key);
  }
}

const keyOf = ({ isSecure, host, port, credentials }: NatsTarget): string =>
  JSON.stringify([isSecure, host, port, credentials]);
