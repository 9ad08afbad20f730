/**
 * Settings of a connection. A pooler such as pgbouncer lends one connection to the server to many clients, so that a client can
 * rely neither on the settings of its session nor on statements that it has prepared. It needs no configuration: the server
 * process that a pooler names when a client connects is invented.
 */

export type Settings = Readonly<Record<string, string>>;

/** The part of a client of the driver that prepares a connection. */
export type SessionClient = {
  query(statement: {
    readonly text: string;
    readonly values: unknown[];
    readonly query_timeout: number;
  }): Promise<{ readonly rowCount: number | null }>;
};

/** The driver has received the id, but its types lack it. */
type WithProcess = { readonly processID?: number | null };

export type Sessions = {
  /** Prepares a new connection: settings apply to the session, unless a pooler is in between. */
  begin(client: SessionClient): Promise<void>;
  /** Returns whether a connection goes through a pooler. */
  isPooled(client: SessionClient): boolean;
  /** Returns whether the last new connection goes through a pooler. */
  isLastPooled(): boolean;
};

/** @param timeoutMs time for a new connection to reach a server: a pooler accepts connections without one */
export function createSessions(settings: Settings, timeoutMs: number): Sessions {
  const pooled = new WeakSet<SessionClient>();
  let isLastPooled = false;
  const entries = Object.entries(settings);
  const set = entries.map((_, index) => `set_config($${2 * index + 2}, $${2 * index + 3}, false)`);
  const statement = {
    text: `SELECT ${set.join()} WHERE pg_backend_pid() = $1`,
    query_timeout: timeoutMs,
  };
  return {
    isPooled: (client) => pooled.has(client),
    isLastPooled: () => isLastPooled,
    async begin(client) {
      const { processID } = client as SessionClient & WithProcess;
      const values = [processID ?? 0, ...entries.flat()];
      const { rowCount } = await client.query({ ...statement, values });
      isLastPooled = rowCount === 0;
      if (isLastPooled) pooled.add(client);
    },
  };
}

/** Returns SQL that applies settings to the transaction that it begins. */
export const beginWith = (mode: string, settings: Settings): string =>
  [
    `BEGIN ${mode}`,
    ...Object.entries(settings).map(([name, value]) => `SET LOCAL ${name} = '${value}'`),
  ].join("; ");
