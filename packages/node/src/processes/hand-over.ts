/**
 * Hands the webhooks over between a node and delivery workers (docs/decisions/0054): opens both sides, reads their states, and
 * continues with the step that follows, until the target owns the webhooks.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { handOverOptions } from "../config/mirror.ts";
import { requireMirrorAccess } from "../config/mirror-access.ts";
import type { Config } from "../config/resolve.ts";
import { DEFAULT_HTTP_GATEWAY_OPTIONS, HttpGateway } from "../gateway/http.ts";
import {
  cancellableTransfer,
  describePair,
  HandOverFailure,
  nextStep,
  type Pair,
  type Step,
  type Target,
} from "../hand-over/next-step.ts";
import { NodeClient, type Sides } from "../hand-over/node-client.ts";
import {
  cancelToNode,
  cancelToWorkers,
  checkWorkers,
  completeToNode,
  completeToWorkers,
  copyToNode,
  copyToWorkers,
  prepareNode,
  stopNode,
} from "../hand-over/steps.ts";
import { readIdentity } from "../mirror/node-identity.ts";
import { CodedError } from "../platform/coded-error.ts";
import { Postgres } from "../postgres/connection.ts";
import { toPostgresError } from "../postgres/postgres-error.ts";
import { DEFAULT_WEBHOOK_OPTIONS } from "../webhooks/options.ts";
import { PostgresWorkersSide } from "../webhooks/postgres/hand-over/workers-side.ts";
import { openSecretCipher } from "../webhooks/postgres/secrets.ts";

type HandOverOptions = {
  readonly to: Target;
  /** Height of the node's chain from which on a new hand-over begins; undefined: at once. */
  readonly at: number | undefined;
};

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
/** Longer than the time for which a request to the node is repeated (`hand-over/node-client.ts`). */
const MAX_TRANSACTION_IDLE_MS = 180_000;

/**
 * Resolves when the target owns the webhooks, or with `cancel` their former owner.
 *
 * @returns false if nothing was to be done
 * @throws {ConfigError} if an option is missing
 * @throws {HandOverFailure | HandOverError}
 */
export async function runHandOver(config: HandOverConfig, deps: HandOverDeps): Promise<boolean> {
  const { to, at, cancel } = config;
  const { databaseUrl, token } = requireMirrorAccess(config);
  const postgres = openDatabase(databaseUrl);
  const node = new NodeClient({ url: config.node, token, signal: deps.signal });
  const gateway = new HttpGateway(
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
  new Postgres({
    url,
    applicationName: "uniknode webhooks hand-over",
    maxConnections: CONNECTIONS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    maxTransactionIdleMs: MAX_TRANSACTION_IDLE_MS,
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

type Steps = Readonly<
  Record<"prepare" | "copy" | "complete", (sides: Sides, transfer: string) => Promise<void>>
>;
const STEPS: Readonly<Record<Target, Steps>> = {
  workers: { prepare: stopNode, copy: copyToWorkers, complete: completeToWorkers },
  node: { prepare: prepareNode, copy: copyToNode, complete: completeToNode },
};
const POLL_MS = 500;

/**
 * Resolves when the target owns the webhooks.
 *
 * @returns false if it did before
 * @throws {HandOverFailure | HandOverError}
 */
async function handOver(options: HandOverOptions, sides: Sides): Promise<boolean> {
  const { to } = options;
  for (let isChanged = false; ; isChanged = true) {
    const step = nextStep(to, await readPair(sides));
    if (step.kind === "done") return isChanged;
    if (step.kind === "begin") {
      if (isChanged)
        throw new HandOverFailure(
          "HAND_OVER_REFUSED",
          "another command has cancelled the hand-over; run this one again to begin another",
        );
      await begin(options, step, sides);
    } else await STEPS[to][step.kind](sides, step.transfer).catch(ignoreOwnerError);
  }
}

/**
 * Another command has cancelled or continued the hand-over: the states of both sides, which are read again, say which. A claim of shards
 * that meets the change has the code, too, in an error of its own.
 */
function ignoreOwnerError(error: unknown): void {
  if (!(error instanceof CodedError && error.code === "OWNER_CHANGED")) throw error;
}

async function readPair({ node, workers }: Sides): Promise<Pair> {
  const [{ state, transfer }, owner] = await Promise.all([node.status(), workers.owner()]);
  return { node: { state, transfer }, workers: owner };
}

async function begin(
  { to, at }: HandOverOptions,
  { transfer = randomUUID() }: Extract<Step, { readonly kind: "begin" }>,
  sides: Sides,
): Promise<void> {
  if (to === "workers") await checkWorkers(sides);
  if (at !== undefined) await awaitHeight(at, sides);
  const change =
    to === "workers"
      ? ({ from: "node", to: "to workers", transfer } as const)
      : ({ from: "workers", to: "to node", transfer } as const);
  await sides.workers.change(change);
}

async function awaitHeight(at: number, { node, report, signal }: Sides): Promise<void> {
  let isReported = false;
  while ((await node.height()) < at) {
    if (!isReported) report(`waiting for block ${at}`);
    isReported = true;
    await sleep(POLL_MS, undefined, { signal });
  }
}

/**
 * Returns to the former owner, while the target does not own the webhooks.
 *
 * @throws {HandOverFailure} HAND_OVER_LATE if no such hand-over is running, or it can only be completed
 */
async function cancelHandOver(to: Target, sides: Sides): Promise<void> {
  const pair = await readPair(sides);
  const step = nextStep(to, pair);
  const transfer = cancellableTransfer(step);
  if (transfer === undefined) throw late(to, pair, step);
  if (to === "workers") await cancelToWorkers(sides, transfer, pair);
  else await cancelToNode(sides, transfer);
}

const late = (to: Target, pair: Pair, { kind }: Step): HandOverFailure =>
  new HandOverFailure(
    "HAND_OVER_LATE",
    kind === "complete"
      ? `the hand-over to the ${to} can no longer be cancelled: ${describePair(pair)}; finish it with --to ${to}`
      : `no hand-over to the ${to} is running: ${describePair(pair)}`,
  );
