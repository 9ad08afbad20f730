/** Open connections to NATS servers: one for each server and user, shared by all webhooks, and closed after a time without calls. */
import type { NatsTarget } from "../model/targets.ts";
import type { StreamClient } from "./stream-client.ts";

export type SharedConnections = {
  /** Runs the work with the connection to the server of a target. */
  use<T>(target: NatsTarget, work: (client: StreamClient) => Promise<T>): Promise<T>;
  /** Gives later calls a new connection; calls that are running keep theirs. */
  retire(target: NatsTarget): void;
  /** Returns the number of open connections. */
  size(): number;
  close(): Promise<void>;
};

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

type State = Required<SharedConnectionsDeps> & {
  /** All open connections, in the order in which they became idle. */
  readonly connections: Set<Connection>;
  /** Connections for new calls, by server and user. */
  readonly current: Map<string, Connection>;
};

/** Time without a call after which a connection is closed. */
const IDLE_MS = 10_000;
/** Maximum number of idle connections; beyond it, the connection that became idle first is closed. */
const MAX_IDLE = 32;

export function createSharedConnections(deps: SharedConnectionsDeps): SharedConnections {
  const state: State = {
    ...{ idleMs: IDLE_MS, maxIdle: MAX_IDLE, ...deps },
    connections: new Set(),
    current: new Map(),
  };
  return {
    async use(target, work) {
      const connection = connectionTo(state, target);
      clearTimeout(connection.idle);
      connection.idle = undefined;
      connection.running++;
      try {
        return await work(await connection.client);
      } finally {
        leave(state, connection);
      }
    },
    retire(target) {
      const connection = state.current.get(keyOf(target));
      if (!connection) return;
      state.current.delete(connection.key);
      if (connection.running === 0) void end(state, connection);
    },
    size: () => state.connections.size,
    async close() {
      await Promise.all([...state.connections].map((connection) => end(state, connection)));
    },
  };
}

function connectionTo(state: State, target: NatsTarget): Connection {
  const { connections, current, open } = state;
  const key = keyOf(target);
  const known = current.get(key);
  if (known) return known;
  const connection: Connection = { key, client: open(target), running: 0, idle: undefined };
  connections.add(connection);
  current.set(key, connection);
  const forget = () => {
    connections.delete(connection);
    release(state, connection);
  };
  connection.client.then(({ closed }) => closed).then(forget, forget);
  return connection;
}

/** Ends a call: its connection becomes idle, or is closed if it was retired. */
function leave(state: State, connection: Connection): void {
  const { connections, current, idleMs, maxIdle } = state;
  connection.running--;
  if (connection.running > 0 || !connections.delete(connection)) return;
  connections.add(connection);
  if (current.get(connection.key) !== connection) {
    void end(state, connection);
    return;
  }
  connection.idle = setTimeout(() => void end(state, connection), idleMs);
  const idle = [...connections].filter((each) => each.idle !== undefined);
  const [oldest] = idle;
  if (oldest && idle.length > maxIdle) void end(state, oldest);
}

/** Closes a connection that is open, or as soon as it is open; later calls get another one. */
function end(state: State, connection: Connection): Promise<void> {
  release(state, connection);
  return connection.client.then(
    (client) => client.close(),
    () => {},
  );
}

function release({ current }: State, connection: Connection): void {
  clearTimeout(connection.idle);
  connection.idle = undefined;
  if (current.get(connection.key) === connection) current.delete(connection.key);
}

const keyOf = ({ isSecure, host, port, credentials }: NatsTarget): string =>
  JSON.stringify([isSecure, host, port, credentials]);
