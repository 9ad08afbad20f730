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

/**
 * Applies settings to the session of a new connection. Without effect, and false, if it goes through a pooler.
 *
 * @param timeoutMs time limit for the connection to reach a server: a pooler without a server accepts connections, too
 */
export async function applySettings(
  client: SessionClient,
  settings: Settings,
  timeoutMs: number,
): Promise<boolean> {
  const { processID } = client as SessionClient & WithProcess;
  const entries = Object.entries(settings);
  const set = entries.map((_, index) => `set_config($${2 * index + 2}, $${2 * index + 3}, false)`);
  const { rowCount } = await client.query({
    text: `SELECT ${set.join()} WHERE pg_backend_pid() = $1`,
    values: [processID ?? 0, ...entries.flat()],
    query_timeout: timeoutMs,
  });
  return rowCount !== 0;
}

/** Returns SQL that begins a transaction, and applies settings to it. */
export const beginWith = (mode: string, settings: Settings): string =>
  [
    `BEGIN ${mode}`,
    ...Object.entries(settings).map(([name, value]) => `SET LOCAL ${name} = '${value}'`),
  ].join("; ");
