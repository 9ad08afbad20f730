/** Properties of statements that Citus and YugabyteDB treat differently from PostgreSQL, and what must change for them. */
import type { Statement } from "./statements.ts";

export type Feature = {
  readonly name: string;
  /** Statements that have the property. */
  readonly pattern: RegExp;
  /** Change for Citus, with the tables of webhooks distributed by webhook; undefined: none. */
  readonly citus: string | undefined;
  readonly yugabyte: string | undefined;
};

const INDEXES: readonly Feature[] = [
  {
    name: "unique index",
    pattern: /\bPRIMARY KEY\b|\bCREATE UNIQUE INDEX\b/,
    citus:
      "must contain the distribution column: `deliveries (webhook, number)` and `(webhook, id)`; `contents` and `attempts` need a column `webhook`",
    yugabyte: undefined,
  },
  {
    name: "ordered index",
    pattern: /^CREATE (?:UNIQUE )?INDEX\b/,
    citus: undefined,
    yugabyte:
      "the first column is hashed by default: declare `ASC`, also in primary keys, otherwise each page and each queue reads the whole table",
  },
  {
    name: "foreign key",
    pattern: /\bREFERENCES\b/,
    citus: "`webhooks` becomes a reference table",
    yugabyte: undefined,
  },
  {
    name: "numbers from a sequence",
    pattern: /\bAS IDENTITY\b|\bCREATE SEQUENCE\b|\b(?:nextval|setval|pg_get_serial_sequence|last_value)\b/,
    citus:
      "write through the coordinator only: each node has a range of its own, so numbers would not grow in the order of commits",
    yugabyte:
      "`ysql_sequence_cache_minval = 0`: by default each connection takes 100 numbers, so they would not grow in the order of commits",
  },
];

const TABLES: readonly Feature[] = [
  {
    name: "trigger",
    pattern: /^CREATE TRIGGER\b|\bRETURNS trigger\b/,
    citus:
      "not supported on distributed tables: the statements that change `deliveries` write `delivery_lanes`, too",
    yugabyte: undefined,
  },
  {
    name: "storage parameters",
    pattern: /\bfillfactor\b|\bautovacuum_\w+/,
    citus: "set them again for each shard of a distributed table",
    yugabyte: "without effect: its storage has neither pages nor a vacuum",
  },
];

const CHANGES: readonly Feature[] = [
  {
    name: "row lock",
    pattern: /\bFOR (?:UPDATE|NO KEY UPDATE|SHARE|KEY SHARE)\b|^(?:NO KEY UPDATE|SHARE)$/,
    citus:
      "allowed for one shard: a lock of several webhooks becomes a statement for each webhook, in their order",
    yugabyte:
      "needs read committed (`yb_enable_read_committed_isolation`) and wait queues; otherwise conflicts end transactions, which workers would have to repeat",
  },
  {
    name: "change of deliveries by number",
    pattern:
      /^(?:UPDATE|DELETE FROM) (?:deliveries|delivery_lanes|attempts|contents)\b(?!.*\bWHERE webhook = )/,
    citus: "add `webhook = ANY (...)`: without it, the statement runs on every shard",
    yugabyte: undefined,
  },
  {
    name: "CTE that changes rows",
    pattern: /^WITH\b.*\b(?:UPDATE \w+ SET|DELETE FROM)\b/,
    citus: "allowed for one shard: each part needs `webhook = $1`",
    yugabyte: undefined,
  },
  {
    name: "subquery in an insert",
    pattern: /^INSERT INTO .*\(SELECT\b/,
    citus: "not supported: read the value before, in the same transaction",
    yugabyte: undefined,
  },
  {
    name: "time of the database in a change",
    pattern: /^(?:UPDATE|INSERT INTO|DELETE FROM)\b.*\b(?:clock_timestamp|now)\(\)/,
    citus:
      "not allowed on distributed tables: `head`, `shard_owners` and `delivery_workers` stay local tables of the coordinator",
    yugabyte:
      "the clocks of its machines may differ by `max_clock_skew_usec`: leases must be longer than that",
  },
  {
    name: "advisory lock",
    pattern: /\bpg_advisory_xact_lock\b/,
    citus: "locks one node only: connect all processes to the coordinator",
    yugabyte: "only in newer versions; otherwise lock a row",
  },
  {
    name: "COPY",
    pattern: /^COPY\b/,
    citus: undefined,
    yugabyte: "slower in a transaction: all rows stay provisional until its end",
  },
];

const READS: readonly Feature[] = [
  {
    name: "LATERAL join",
    pattern: /\bLATERAL\b/,
    citus: "not supported from a list of values to a distributed table: a statement for each webhook",
    yugabyte: undefined,
  },
  {
    name: "one snapshot of several tables",
    pattern: /\bREPEATABLE READ\b/,
    citus:
      "nodes have no common snapshot: the tables of the chain must not be distributed, so Citus does not extend the reads of the API",
    yugabyte:
      "reads can fail with `40001` after a change within the clock skew: API servers must repeat them",
  },
  {
    name: "schema in a transaction",
    pattern: /^(?:LOCK TABLE|CREATE|ALTER TABLE|TRUNCATE)\b/,
    citus: "`create_distributed_table` and `create_reference_table` follow the migrations",
    yugabyte:
      "a statement of the schema commits at once, unless transactional DDL is enabled: migrations must be repeatable, and a hand-over must use DELETE instead of TRUNCATE",
  },
  {
    name: "settings of a transaction",
    pattern: /\bSET LOCAL\b|\bset_config\b/,
    citus: "`citus.propagate_set_commands = local`, for the time limits",
    yugabyte: "`synchronous_commit` has no effect: each commit waits for a majority",
  },
];

export const FEATURES: readonly Feature[] = [...INDEXES, ...TABLES, ...CHANGES, ...READS];

export const withFeature = (statements: readonly Statement[], { pattern }: Feature): Statement[] =>
  statements.filter(({ sql }) => pattern.test(sql));

/** Returns the files of statements, in alphabetical order. */
export const filesOf = (statements: readonly Statement[]): string[] =>
  [...new Set(statements.map(({ file }) => file))].sort();

export const featuresOf = ({ sql }: Statement): string[] =>
  FEATURES.filter(({ pattern }) => pattern.test(sql)).map(({ name }) => name);
