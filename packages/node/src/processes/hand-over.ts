/** Opens both sides of a hand-over of webhooks, and runs it. */
import type { Logger } from "pino";
import type { handOverOptions } from "../config/mirror.ts";
import { requireMirrorAccess } from "../config/mirror-access.ts";
import type { Config } from "../config/resolve.ts";
import { DEFAULT_HTTP_GATEWAY_OPTIONS, gatewayOverHttp } from "../gateway/http.ts";
import { cancelHandOver, type HandOverOptions, handOver } from "../hand-over/hand-over.ts";
import { HandOverFailure } from "../hand-over/next-step.ts";
import { createNodeClient, type Sides } from "../hand-over/node-client.ts";
import { readIdentity } from "../mirror/node-identity.ts";
import { openPostgres, type Postgres } from "../postgres/connection.ts";
import { toPostgresError } from "../postgres/postgres-error.ts";
import { DEFAULT_WEBHOOK_OPTIONS } from "../webhooks/options.ts";
import { PostgresWorkersSide } from "../webhooks/postgres/hand-over/workers-side.ts";
import { openSecretCipher } from "../webhooks/postgres/secrets.ts";

type HandOverConfig = Config<typeof handOverOptions> &
  HandOverOptions & {
    /** True to return to the former owner. */
    readonly cancel: boolean;
  };

type HandOverDeps = {
  readonly report: (text: string) => void;
  readonly logger: Logger;
  readonly signal: AbortSignal;
};

/** Connections: one for the rows, and others for the lease and the states. */
const CONNECTIONS = 4;
/** Long enough to copy all rows in one transaction. */
const STATEMENT_TIMEOUT_MS = 3_600_000;

/**
 * Resolves when the target owns the webhooks, or with `cancel` their former owner.
 *
 * @returns false if nothing was to be done
 * @throws {ConfigError} if an option is missing
 * @throws {HandOverFailure | HandOverError | OwnerError}
 */
export async function runHandOver(config: HandOverConfig, deps: HandOverDeps): Promise<boolean> {
  const { to, at, cancel } = config;
  const { databaseUrl, token } = requireMirrorAccess(config);
  const postgres = openDatabase(databaseUrl);
  const node = createNodeClient({ url: config.node, token, signal: deps.signal });
  const gateway = gatewayOverHttp(
    { ...DEFAULT_HTTP_GATEWAY_OPTIONS, urls: [config.node], token },
    { onChange() {} },
  );
  try {
    const { network, cipher } = await openRegister(postgres, config.webhookKeyFile);
    const { maxContentBytes } = DEFAULT_WEBHOOK_OPTIONS;
    const { report, logger, signal } = deps;
    const workers = new PostgresWorkersSide(
      { network, maxContentBytes },
      { postgres, cipher, logger, signal },
    );
    const sides: Sides = { node, gateway: gateway.gateway, workers, report, signal };
    if (!cancel) return await handOver({ to, at }, sides);
    await cancelHandOver(to, sides);
    return true;
  } finally {
    await Promise.all([node.close(), gateway.close(), postgres.close()]);
  }
}

const openDatabase = (url: string): Postgres =>
  openPostgres({
    url,
    applicationName: "uniknode webhooks hand-over",
    maxConnections: CONNECTIONS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    isCommitAsynchronous: false,
    onConnectionLost() {},
  });

async function openRegister(postgres: Postgres, keyFile: string | undefined) {
  const found = await readIdentity(postgres).catch((error: Error) => {
    const { message, cause } = toPostgresError(error) as Error;
    throw new HandOverFailure(
      "HAND_OVER_REFUSED",
      `cannot use the database of the workers: ${message}; check --database-url, and that a mirror of this version has filled it`,
      { cause },
    );
  });
  if (typeof found === "string")
    throw new HandOverFailure("HAND_OVER_REFUSED", `the database has no mirror: ${found}`);
  return { network: found.network.description.nethash, cipher: await openSecretCipher(postgres, keyFile) };
}
