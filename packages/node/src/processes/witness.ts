/** A witness: compares nodes periodically, and shows the checkpoint that it signed. */
import { join } from "node:path";
import type { FastifyPluginAsync } from "fastify";
import type { Logger } from "pino";
import type { Config } from "../config/resolve.ts";
import type { witnessOptions } from "../config/witness.ts";
import { checkpointKeyOf, keyOfPem } from "../facts/note.ts";
import { type Check, healthy, type Readiness, unhealthy } from "../operations/health.ts";
import { createOperationRoutes, type Operations, OperationsServer } from "../operations/http/server.ts";
import { Registry } from "../operations/metrics/instruments.ts";
import { createWitnessMetrics } from "../operations/metrics/other-processes.ts";
import { createUsageMetrics } from "../operations/metrics/process.ts";
import { explainListenError, shownHost } from "../platform/addresses.ts";
import { Closing } from "../platform/lifecycle/closing.ts";
import type { Served } from "../platform/lifecycle/process.ts";
import { programVersion } from "../platform/lifecycle/program.ts";
import { type FolderLock, lockDataFolder } from "../store/engine/folder-lock.ts";
import { Cosigner } from "../witness/cosigner.ts";
import { Witness, type WitnessState } from "../witness/witness.ts";

type WitnessConfig = Config<typeof witnessOptions>;

/** Pause between two comparisons. */
const PAUSE_MS = 10_000;

type OpenWitness = {
  readonly witness: Witness;
  readonly verifierKey: string;
  /** Lock of the folder. */
  readonly lock: FolderLock;
};

/**
 * Locks and opens the folder of a witness: two witnesses with one key could sign two histories.
 *
 * @throws {DataInUseError | ConfigError}
 * @throws {DataError} if a file of the folder is damaged
 */
export function openWitness(urls: readonly string[], config: WitnessConfig, logger: Logger): OpenWitness {
  const lock = lockDataFolder(config.data);
  try {
    const cosigner = new Cosigner(keyOfPem(checkpointKeyOf(config.data)), config.name);
    const minNodes = config.minNodes ?? Math.floor(urls.length / 2) + 1;
    const witness = new Witness(
      { urls, minNodes, path: join(config.data, "witness.json") },
      { cosigner, nowMs: Date.now, logger },
    );
    return { witness, verifierKey: cosigner.verifierKey, lock };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** @throws {Error} if the folder cannot be read, or the port cannot be listened on */
export async function startWitness(
  urls: readonly string[],
  config: WitnessConfig,
  logger: Logger,
): Promise<Served & { readonly url: string }> {
  const { witness, verifierKey, lock } = openWitness(urls, config, logger);
  const closing = new Closing();
  closing.add("data folder", lock.release);
  const { operationsHost: host, operationsPort = 0 } = config;
  const checkpoint = createWitnessRoutes(() => witness.signed(), verifierKey);
  const operations = createOperationRoutes(undefined, new WitnessOperations(witness, verifierKey));
  const server = new OperationsServer(
    { host, port: operationsPort },
    {
      logger,
      routes: async (app) => {
        await app.register(checkpoint);
        await app.register(operations);
      },
    },
  );
  const { port } = await server.listen().catch((error) => {
    lock.release();
    throw explainListenError(error, { host, port: operationsPort, portFlag: "--operations-port" });
  });
  closing.add("listener", () => server.close());
  const rounds = new Rounds(witness);
  closing.add("comparison", () => rounds.close());
  const url = `http://${shownHost(host)}:${port}`;
  logger.info({ url, key: verifierKey, nodes: urls }, "witness started");
  const failed = Promise.race([rounds.failed, lock.lost]);
  failed.catch(() => {});
  return { url, failed, closing: () => closing.current(), stop: () => closing.closeAll(logger) };
}

/** Repeats rounds. */
class Rounds {
  /** Rejects if the state cannot be written. */
  readonly failed: Promise<never>;
  readonly #witness: Witness;
  readonly #onFailed: (error: unknown) => void;
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<unknown> = Promise.resolve();

  constructor(witness: Witness) {
    this.#witness = witness;
    const { promise: failed, reject } = Promise.withResolvers<never>();
    // A failure before anything waits for it must not end the process.
    failed.catch(() => {});
    this.failed = failed;
    this.#onFailed = reject;
    this.#run();
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  #run(): void {
    const { signal } = this.#stopping;
    this.#running = this.#witness.round(signal).then(() => {
      if (!signal.aborted) this.#timer = setTimeout(() => this.#run(), PAUSE_MS);
    }, this.#onFailed);
  }
}

class WitnessOperations implements Operations {
  readonly metricsType: string;
  readonly #witness: Witness;
  readonly #verifierKey: string;
  readonly #version = programVersion();
  readonly #registry = new Registry();
  readonly #showUsage: ReturnType<typeof createUsageMetrics>;
  readonly #showWitness: ReturnType<typeof createWitnessMetrics>;

  constructor(witness: Witness, verifierKey: string) {
    this.#witness = witness;
    this.#verifierKey = verifierKey;
    this.#showUsage = createUsageMetrics(this.#registry, this.#version);
    this.#showWitness = createWitnessMetrics(this.#registry);
    this.metricsType = this.#registry.contentType;
  }

  live(): Check {
    return healthy("responds");
  }

  async ready(): Promise<Readiness> {
    const last = this.#witness.last();
    const isAgreed = last !== undefined && last.differing.length === 0 && last.agreed.length > 0;
    const nodes = isAgreed
      ? healthy(`${last.agreed.length} nodes agree`)
      : unhealthy(last ? `trees differ: ${last.differing.join(", ") || "no node responds"}` : "no round yet");
    const { height, contradictedBy } = this.#witness.signed() ?? {};
    const signed =
      height === undefined
        ? unhealthy("nothing yet")
        : contradictedBy
          ? unhealthy(`contradicted by ${contradictedBy.map(({ url }) => url).join(", ")}`)
          : healthy(`up to height ${height}`);
    return { isReady: nodes.ok && signed.ok, checks: { nodes, signed } };
  }

  async status(): Promise<object> {
    return { version: this.#version, verifierKey: this.#verifierKey, ...(await this.ready()) };
  }

  async metrics(): Promise<string> {
    const { size = 0, height = 0 } = this.#witness.signed() ?? {};
    const { agreed = [], differing = [], failed = [] } = this.#witness.last() ?? {};
    this.#showUsage();
    this.#showWitness({
      size,
      height,
      agreed: agreed.length,
      differing: differing.length,
      failed: failed.length,
    });
    return this.#registry.metrics();
  }
}

const ROUTE_OPTIONS = { schema: { hide: true } };

/** Creates the route of the signed checkpoint, in the form in which nodes show theirs (facts.md 4 and 12). */
export const createWitnessRoutes =
  (signed: () => WitnessState | undefined, verifierKey: string): FastifyPluginAsync =>
  async (app) => {
    for (const prefix of ["", "/api", "/api/v2"]) {
      app.get(`${prefix}/facts/checkpoint`, ROUTE_OPTIONS, async (request, reply) => {
        const state = signed();
        if (!state) {
          reply.code(404);
          return { statusCode: 404, error: "Not Found", message: "Nothing has been signed yet" };
        }
        if (state.contradictedBy) {
          reply.code(409);
          const message = "Nodes contradict the tree that this witness signed";
          const { note, contradictedBy } = state;
          return { statusCode: 409, error: "Conflict", message, note, contradictedBy };
        }
        const { size, root, height, note } = state;
        reply.header("vary", "accept");
        if (request.headers.accept?.includes("json"))
          return { data: { size, root, height, note, verifierKey } };
        return reply.type("text/plain; charset=utf-8").send(note);
      });
    }
  };
