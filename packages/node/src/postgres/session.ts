/**
 * Settings of a connection. A pooler such as pgbouncer shares connections to the server among clients, so that a client
 * can rely neither on session settings nor on prepared statements. A pooler is detected without configuration: the id
 * that it reports to a new client is not that of a server process.
 */

export type Settings = Readonly<Record<string, string>>;

/** Members of the driver's client that prepare a connection. */
type SessionClient = {
  query(statement: {
    readonly text: string;
    readonly values: unknown[];
    readonly query_timeout: number;
  }): Promise<{ readonly rowCount: number | null }>;
};

/** The driver has this member, but its types do not. */
type WithProcess = { readonly processID?: number | null };

export type Sessions = {
  /** Applies the settings to the session of a new connection, unless it goes through a pooler. */
  begin(client: SessionClient): Promise<void>;
  /** Returns true if a connection goes through a pooler. */
  isPooled(client: SessionClient): boolean;
  /** Returns true if the last new connection goes through a pooler. */
  isLastPooled(): boolean;
};

/** @param timeoutMs time limit for a new connection to reach a server: a pooler without a server accepts connections, too */
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

/** Returns SQL that begins a transaction, and applies settings to it. */
export const beginWith = (mode: string, settings: Settings): string =>
  [
    `BEGIN ${mode}`,
    ...Object.entries(settings).map(([name, value]) => `SET LOCAL ${name} = '${value}'`),
  ].join("; ");
