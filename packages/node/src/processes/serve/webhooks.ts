/**
 * Requests of clients to webhooks, while delivery workers own them: an API server reads and writes their register and queues
 * in PostgreSQL (docs/decisions/0054).
 */
import type { Network } from "@uniknode/protocol";
import type { Logger } from "pino";
import { PostgresHistory } from "../../event-log/postgres/history.ts";
import { DEFAULT_HTTP_GATEWAY_OPTIONS, HttpGateway } from "../../gateway/http.ts";
import { ConfigError } from "../../platform/coded-error.ts";
import type { Closing } from "../../platform/lifecycle/closing.ts";
import { Postgres } from "../../postgres/connection.ts";
import { PostgresError, sqlStateOf, toPostgresError } from "../../postgres/postgres-error.ts";
import { toSnapshotError } from "../../read/postgres/read-model.ts";
import { NO_MATCHING_OBSERVER, Slices } from "../../subscriptions/conditions/slices.ts";
import { systemClock } from "../../webhooks/collaborators.ts";
import { Attempts } from "../../webhooks/delivery/attempt.ts";
import { WebhookError } from "../../webhooks/error.ts";
import type { Owner, OwnerState } from "../../webhooks/hand-over/owner.ts";
import { guardRequests, type RequestKind, refusalOf } from "../../webhooks/hand-over/service-switch.ts";
import { RemoteNames, readOwner } from "../../webhooks/postgres/hand-over/owner.ts";
import { openSecretCipher } from "../../webhooks/postgres/secrets.ts";
import { createRequestStorage } from "../../webhooks/postgres/storage.ts";
import { OwnRequests, SENDER_ELSEWHERE, type WebhookRequests } from "../../webhooks/requests.ts";
import { TargetPost } from "../../webhooks/target-post.ts";
import { toPostOptions, toTargetChecks } from "../serving/webhook-options.ts";
import type { ServedWebhooks, ServeOptions } from "./http.ts";

type ServeWebhooksDeps = {
  readonly databaseUrl: string;
  readonly token: string;
  readonly network: Network;
  readonly closing: Closing;
  readonly logger: Logger;
};

const CONNECTIONS = 4;
const STATEMENT_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 3_000;

export function buildServeWebhooks(options: ServeOptions, deps: ServeWebhooksDeps): ServedWebhooks {
  const postgres = openDatabase(options, deps);
  const connections = openConnections(options, deps);
  const open = once(() => openRequests(options, { ...deps, ...connections, postgres }));
  const owner = () => readOwner(postgres.query);
  return {
    isOwned: createIsOwned(owner),
    requests: guardRequests((kind, work) =>
      failing(async () => {
        requireWorkers(await owner());
        const result = await work(await open());
        await checkAfter(kind, owner);
        return result;
      }),
    ),
  };
}

/** States in which requests are not forwarded: until the node has the webhooks, it would name the workers as their owner. */
const OF_WORKERS: readonly OwnerState[] = ["workers", "to node"];

/**
 * Creates a function that returns whether the workers own the webhooks, or begin to hand them over. While the database cannot be
 * read, the last known owner counts: at first the node. Concurrent calls share one read, because requests without a token also
 * need the owner.
 */
export function createIsOwned(owner: () => Promise<Owner>): () => Promise<boolean> {
  let isOwned = false;
  let reading: Promise<boolean> | undefined;

  async function read(): Promise<boolean> {
    try {
      isOwned = OF_WORKERS.includes((await owner()).state);
    } catch (error) {
      if (!(toPostgresError(error) instanceof PostgresError)) throw error;
    } finally {
      reading = undefined;
    }
    return isOwned;
  }

  return () => {
    reading ??= read();
    return reading;
  };
}

function requireWorkers(owner: Owner): void {
  if (owner.state !== "workers") throw refusalOf(owner);
}

/** After a hand-over to the node, the rows are dropped: what was read may be incomplete. */
async function checkAfter(kind: RequestKind, owner: () => Promise<Owner>): Promise<void> {
  if (kind === "read") requireWorkers(await owner());
}

/** The statement would write, but the server is a replica, or the user has no privilege. */
const READ_ONLY = ["25006", "42501"];

/** Runs the work; converts errors of the database and of the options to errors that the HTTP server knows. */
async function failing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ConfigError)
      throw new WebhookError(
        "WEBHOOK_KEY_MISSING",
        "this API server cannot read the secrets of webhooks: its log says what to do",
      );
    if (READ_ONLY.includes(sqlStateOf(error) ?? ""))
      throw new WebhookError(
        "WEBHOOKS_READ_ONLY",
        "this API server cannot write to its database: start it with --webhook-database-url, the database of the delivery workers",
      );
    throw toSnapshotError(toPostgresError(error));
  }
}

/** Creates a function that calls another one until it succeeds, and then returns its result. */
function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => {
    opened ??= open();
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  };
}

/** Opens connections with the first request. */
function openDatabase(
  { webhookDatabaseUrl }: ServeOptions,
  { databaseUrl, closing, logger }: ServeWebhooksDeps,
): Postgres {
  const postgres = new Postgres({
    url: webhookDatabaseUrl ?? databaseUrl,
    applicationName: "uniknode serve webhooks",
    maxConnections: CONNECTIONS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    isCommitAsynchronous: false,
    onConnectionLost: (err) => logger.warn({ err }, "lost a connection to the database of webhooks"),
  });
  closing.add("database of webhooks", () => postgres.close());
  return postgres;
}

type Connections = {
  /** Calls to the first node: the mirror follows it. */
  readonly remote: HttpGateway;
  readonly targets: TargetPost;
};

/** Connections begin with the first request. They are closed after the HTTP server, whose requests use them until they end. */
function openConnections(options: ServeOptions, { token, closing }: ServeWebhooksDeps): Connections {
  const remote = new HttpGateway(
    { ...DEFAULT_HTTP_GATEWAY_OPTIONS, urls: options.node.slice(0, 1), token },
    { onChange() {} },
  );
  closing.add("gateway of webhooks", () => remote.close());
  const targets = new TargetPost(toPostOptions(options));
  closing.add("connections to receivers", () => targets.close());
  return { remote, targets };
}

/** @throws {ConfigError} if the secrets in the database need another key */
async function openRequests(
  options: ServeOptions,
  {
    postgres,
    remote,
    targets,
    network,
    logger,
  }: ServeWebhooksDeps & Connections & { readonly postgres: Postgres },
): Promise<WebhookRequests> {
  const cipher = await openSecretCipher(postgres, options.webhookKeyFile).catch((err: Error) => {
    logger.error({ err }, "cannot serve the webhooks of delivery workers");
    throw err;
  });
  const names = new RemoteNames({ postgres, gateway: remote.gateway });
  const lastEvent = () => names.replace();
  const clock = systemClock;
  return new OwnRequests(
    { ...toTargetChecks(options), webhookLimit: options.webhookLimit },
    {
      storage: createRequestStorage({ postgres, cipher, lastEvent }),
      sender: SENDER_ELSEWHERE,
      webhooksChanged: async () => void (await lastEvent()),
      history: new PostgresHistory(postgres, network),
      attempt: new Attempts({ post: targets.post, clock }).make,
      slices: new Slices(NO_MATCHING_OBSERVER),
      observer: NO_MATCHING_OBSERVER,
      clock,
      logger,
    },
  );
}
