/** Bounds of the program, of PostgreSQL and of the service files, which no machine changes. */
export const FIXED = {
  /** Shards of webhooks (docs/decisions/0052). */
  workers: 32,
  /** Highest `--webhook-limit`. */
  webhooks: 10_000,
  /** Highest `--webhook-log-size`. */
  logSize: 100_000_000,
  /** Concurrent calls that all webhooks of a worker share, besides one for each webhook. */
  sharedCalls: 256,
  /** Open live streams of a node. */
  streams: 200,
  /** `LimitNOFILE` of the service files. */
  sockets: 65_536,
  /** Seconds after which a connection without a request is closed. */
  idleSeconds: 10,
  /** Default of `max_wal_senders`. */
  replicas: 10,
  /** Transactions in a block of livenet. */
  transfers: 150,
  /** Default of `--database-connections` of API servers and of delivery workers. */
  serverConnections: 10,
  workerConnections: 5,
  mirrorConnections: 3,
} as const;
