/** Checks the database of a mirror: whether mirrors can write to it, API servers can read from it, and it follows the nodes. */
import { createSlots, type Network } from "@uniknode/protocol";
import { finalHeight } from "../../facts/final.ts";
import { readCopy } from "../../mirror/events/rows.ts";
import { readHead } from "../../mirror/head.ts";
import { readIdentity } from "../../mirror/node-identity.ts";
import { parseExternal } from "../../platform/json/external.ts";
import { type Form, formOf } from "../../platform/json/form.ts";
import { Type } from "../../platform/json/schema.ts";
import { readBounded } from "../../platform/text/foreign.ts";
import { Postgres } from "../../postgres/connection.ts";
import { SchemaError } from "../../postgres/migrations.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const TIMEOUT_MS = 5_000;
/** Major version of the oldest server that the tests use. */
const MIN_VERSION = 15;
/** An API server, a mirror and an operator. */
const GOOD_FREE_CONNECTIONS = 15;
const GOOD_REPLAY_SECONDS = 5;
/** Time for which a gap in the events is a warning. */
const RECENT_GAP_MS = 7 * 86_400_000;

/** @param nodes base URLs of nodes with the same chain */
export async function checkDatabase(url: string, nodes: readonly string[]): Promise<Finding[]> {
  const postgres = new Postgres({
    url,
    applicationName: "uniknode doctor",
    maxConnections: 1,
    connectTimeoutMs: TIMEOUT_MS,
    statementTimeoutMs: TIMEOUT_MS,
    isCommitAsynchronous: false,
    onConnectionLost: () => {},
  });
  try {
    const server = await readServer(postgres).catch((error: Error) => error);
    if (server instanceof Error) return [unreachable(server)];
    return [
      checkServer(server),
      checkEncoding(server),
      checkRole(server),
      checkConnections(server),
      checkCommits(server),
      checkPooler(postgres),
      await checkPrivileges(postgres, server),
      ...(await checkMirror(postgres, nodes)),
    ];
  } finally {
    await postgres.close();
  }
}

const unreachable = ({ message, code = "" }: Error & { readonly code?: string }): Finding =>
  fail(
    "database",
    message || code,
    "check --database-url: host, port, user, password and database; check pg_hba.conf, and that the server runs",
  );

type Server = {
  readonly version: string;
  readonly versionNumber: number;
  readonly database: string;
  readonly user: string;
  readonly encoding: string;
  readonly isReplica: boolean;
  readonly feedback: string;
  /** Seconds since the last replayed commit of a replica that has not replayed everything; null otherwise. */
  readonly replaySeconds: number | null;
  readonly replicas: number;
  readonly maxConnections: number;
  readonly connections: number;
  readonly synchronousCommit: string;
  readonly fsync: string;
};

async function readServer(postgres: Postgres): Promise<Server> {
  const [server] = await postgres.query<Server>(
    `SELECT current_setting('server_version') AS version,
       current_setting('server_version_num')::integer AS "versionNumber",
       current_database()::text AS database, current_user::text AS "user",
       (SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database())::text AS encoding,
       pg_is_in_recovery() AS "isReplica", current_setting('hot_standby_feedback') AS feedback,
       CASE WHEN pg_is_in_recovery() AND pg_last_wal_receive_lsn() IS DISTINCT FROM pg_last_wal_replay_lsn()
         THEN extract(epoch FROM now() - pg_last_xact_replay_timestamp())::float8 END AS "replaySeconds",
       (SELECT count(*) FROM pg_stat_replication)::integer AS replicas,
       current_setting('max_connections')::integer
         - current_setting('superuser_reserved_connections')::integer AS "maxConnections",
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::integer AS connections,
       (SELECT boot_val FROM pg_settings WHERE name = 'synchronous_commit') AS "synchronousCommit",
       current_setting('fsync') AS fsync`,
  );
  if (!server) throw new Error("the server sent no row");
  return server;
}

function checkServer({ version, versionNumber, database, user }: Server): Finding {
  const text = `PostgreSQL ${version}, database ${database}, user ${user}`;
  return Math.floor(versionNumber / 10_000) >= MIN_VERSION
    ? ok("database", text)
    : warn("database", text, `upgrade: nothing older than PostgreSQL ${MIN_VERSION} is tested`);
}

const checkEncoding = ({ encoding, database }: Server): Finding =>
  encoding === "UTF8"
    ? ok("encoding", encoding)
    : fail("encoding", encoding, `create another database: createdb -E UTF8 -T template0 ${database}`);

function checkRole({ isReplica, replaySeconds, replicas, feedback }: Server): Finding {
  if (!isReplica) return ok("role", `primary with ${replicas} replicas`);
  const text = `replica, ${replaySeconds === null ? "everything replayed" : `lags by ${Math.round(replaySeconds)} s`}`;
  if ((replaySeconds ?? 0) > GOOD_REPLAY_SECONDS)
    return warn("role", text, "check recovery_min_apply_delay, and the load of the machine and its network");
  return feedback === "on"
    ? ok("role", text)
    : warn("role", text, "set hot_standby_feedback = on, so that the replica cancels no reads");
}

function checkConnections({ maxConnections, connections }: Server): Finding {
  const text = `${connections} of ${maxConnections} in use`;
  return maxConnections - connections >= GOOD_FREE_CONNECTIONS
    ? ok("connections", text)
    : warn("connections", text, "raise max_connections, use pgbouncer, or lower --database-connections");
}

const checkCommits = ({ fsync, synchronousCommit }: Server): Finding =>
  fsync === "on"
    ? ok("commits", `fsync on, synchronous_commit ${synchronousCommit}; the mirror commits asynchronously`)
    : warn("commits", `fsync ${fsync}`, "set fsync = on: a crash of the machine would destroy the database");

const checkPooler = (postgres: Postgres): Finding =>
  postgres.isPooled()
    ? ok("pooler", "through a pooler such as pgbouncer; no statement is prepared")
    : ok("pooler", "none: connected to the server itself");

async function checkPrivileges(postgres: Postgres, { isReplica, user }: Server): Promise<Finding> {
  const [row] = await postgres.query<{ canCreate: boolean; unreadable: string | null; count: number }>(
    `SELECT has_schema_privilege(current_schema(), 'CREATE') AS "canCreate", count(*)::integer AS count,
       min(tablename) FILTER (WHERE tablename <> 'webhooks' AND NOT has_table_privilege(format('%I.%I', schemaname, tablename), 'SELECT'))
         AS unreadable
     FROM pg_tables WHERE schemaname = current_schema()`,
  );
  const { canCreate = false, unreadable = null, count = 0 } = row ?? {};
  if (unreadable !== null)
    return fail("privileges", `${user} cannot read table ${unreadable}`, grantTo(user));
  if (canCreate) return ok("privileges", `${user} can read and write`);
  return count > 0 || isReplica
    ? ok("privileges", `${user} can read, which is enough for API servers, but not for mirrors`)
    : fail(
        "privileges",
        `${user} cannot create tables`,
        `use the owner of the database for the mirror, or GRANT CREATE ON SCHEMA public TO ${user}`,
      );
}

/** The table of webhooks has secrets, which API servers do not need. */
const grantTo = (user: string) =>
  `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${user}, as the user of the mirror`;

async function checkMirror(postgres: Postgres, nodes: readonly string[]): Promise<Finding[]> {
  try {
    const found = await readIdentity(postgres);
    if (typeof found === "string")
      return [warn("mirror", found, 'start "uniknode mirror" with this database')];
    const { network } = found;
    const head = await readHead(postgres);
    const name = ok("network", `${network.description.name}, nethash ${network.description.nethash}`);
    if (head?.phase !== "ready")
      return [
        name,
        warn("mirror", `is being built, at block ${head?.height ?? 0}`, "wait until it is complete"),
      ];
    const [row] = await postgres.query<{ timestamp: number; owner: string; isLeased: boolean }>(
      `SELECT timestamp::float8 AS timestamp, owner, lease_until > now() AS "isLeased"
       FROM head JOIN blocks USING (height)`,
    );
    const ageMs = Date.now() - createSlots(network).unixMsOf(row?.timestamp ?? 0);
    const at = `block ${head.height}, ${Math.max(0, Math.round(ageMs / 1_000))} s old`;
    const writer = row?.isLeased
      ? ok("mirror", `${row.owner} writes; ${at}`)
      : warn("mirror", `no mirror runs; ${at}`, 'start "uniknode mirror" with this database');
    return [
      name,
      writer,
      await checkEvents(postgres),
      await checkLag(head.height, nodes, { postgres, network }),
    ];
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof SchemaError) return [fail("schema", message, "see docs/guides/mirror.md")];
    return [fail("mirror", message, "see docs/guides/mirror.md")];
  }
}

async function checkEvents(postgres: Postgres): Promise<Finding> {
  const { isStarted, sequence, gaps, lastGapMs = 0 } = await readCopy(postgres);
  if (!isStarted)
    return warn("events", "none is copied yet", "check the log of the mirror, and the version of its node");
  const text = `copied up to ${sequence}; ${gaps} gaps`;
  return Date.now() - lastGapMs > RECENT_GAP_MS
    ? ok("events", text)
    : warn(
        "events",
        `${text}, the last at ${new Date(lastGapMs).toISOString()}`,
        "replay the missing events to the webhooks of delivery workers: see docs/guides/mirror.md",
      );
}

/** The limit of `/health/ready` of an API server. */
const MAX_BLOCKS_BEHIND = 10;
const MAX_RESPONSE_BYTES = 65_536;
const RESPONSE_BOUNDS = { maxCharacters: MAX_RESPONSE_BYTES, maxDepth: 8, maxValues: 1_000 };

const BLOCKCHAIN = formOf(
  Type.Object({
    data: Type.Object({
      block: Type.Object({ height: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) }),
    }),
  }),
);
const BLOCK = formOf(
  Type.Object({ data: Type.Object({ id: Type.String({ pattern: "^[0-9a-f]{1,64}$" }) }) }),
);

/** Compares the database with nodes: whether they have the same chain, and how far the database is behind them. */
async function checkLag(
  height: number,
  nodes: readonly string[],
  { postgres, network }: { readonly postgres: Postgres; readonly network: Network },
): Promise<Finding> {
  const known = await Promise.all(
    nodes.map(async (node) => ({
      node,
      height: (await readNode(node, "blockchain", BLOCKCHAIN))?.data.block.height,
    })),
  );
  const heights = known.flatMap(({ height }) => height ?? []);
  if (heights.length === 0)
    return warn("lag", "unknown: no node responds", "give the base URLs of nodes with --node");
  for (const { node, height: nodeHeight } of known) {
    const final = finalHeight(Math.min(nodeHeight ?? 0, height), network);
    const [stored] = await postgres.query<{ id: string }>("SELECT id FROM blocks WHERE height = $1", [final]);
    const id = stored && (await readNode(node, `blocks/${final}`, BLOCK))?.data.id;
    if (id !== undefined && id !== stored?.id)
      return fail(
        "lag",
        `${node} has another chain: its block ${final} is ${id}, and ${stored?.id} in the database`,
        "check --node and --database-url; the mirror copies another chain into an empty database",
      );
  }
  const blocks = Math.max(0, Math.max(...heights) - height);
  const text = `${blocks} blocks behind the node`;
  return blocks <= MAX_BLOCKS_BEHIND
    ? ok("lag", text)
    : warn("lag", text, "check the log of the mirror; on a replica, check its replication");
}

/** Returns a response of the API; undefined if the node does not send it. */
async function readNode<T>(node: string, path: string, form: Form<T>): Promise<T | undefined> {
  try {
    const response = await fetch(`${node.replace(/\/$/, "")}/api/v2/${path}`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return parseExternal(await readBounded(response.body, MAX_RESPONSE_BYTES), form, RESPONSE_BOUNDS);
  } catch {
    return undefined;
  }
}
