/** A witness: compares nodes periodically, and shows the checkpoint that it signed. */
import { join } from "node:path";
import type { FastifyPluginAsync } from "fastify";
import type { Logger } from "pino";
import type { Config } from "../config/resolve.ts";
import type { witnessOptions } from "../config/witness.ts";
import { checkpointKeyOf, keyOfPem } from "../facts/note.ts";
import { healthy, unhealthy } from "../operations/health.ts";
import { createOperationRoutes, type Operations, OperationsServer } from "../operations/http/server.ts";
import { Registry } from "../operations/metrics/instruments.ts";
import { createWitnessMetrics } from "../operations/metrics/other-processes.ts";
import { createUsageMetrics } from "../operations/metrics/process.ts";
import { explainListenError, shownHost } from "../platform/addresses.ts";
import { Closing } from "../platform/lifecycle/closing.ts";
import type { Served } from "../platform/lifecycle/process.ts";
import { programVersion } from "../platform/lifecycle/program.ts";
import { type FolderLock, lockDataFolder } from "../store/engine/folder-lock.ts";
import { createCosigner } from "../witness/cosigner.ts";
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
    const cosigner = createCosigner(keyOfPem(checkpointKeyOf(config.data)), config.name);
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
  const operations = createOperationRoutes(undefined, createOperations(witness, verifierKey));
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
  const rounds = repeat(witness);
  closing.add("comparison", rounds.close);
  const url = `http://${shownHost(host)}:${port}`;
  logger.info({ url, key: verifierKey, nodes: urls }, "witness started");
  const failed = Promise.race([rounds.failed, lock.lost]);
  failed.catch(() => {});
  return { url, failed, closing: () => closing.current(), stop: () => closing.closeAll(logger) };
}

/** Repeats rounds; `failed` rejects if the state cannot be written. */
function repeat(witness: Witness) {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();
  const { promise: failed, reject } = Promise.withResolvers<never>();
  // A failure before anything waits for it must not end the process.
  failed.catch(() => {});
  function run(): void {
    running = witness.round(stopping.signal).then(() => {
      if (!stopping.signal.aborted) timer = setTimeout(run, PAUSE_MS);
    }, reject);
  }
  run();
  return {
    failed,
    async close() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}

function createOperations(witness: Witness, verifierKey: string): Operations {
  const registry = new Registry();
  const version = programVersion();
  const showUsage = createUsageMetrics(registry, version);
  const showWitness = createWitnessMetrics(registry);
  const ready = async () => {
    const last = witness.last();
    const isAgreed = last !== undefined && last.differing.length === 0 && last.agreed.length > 0;
    const nodes = isAgreed
      ? healthy(`${last.agreed.length} nodes agree`)
      : unhealthy(last ? `trees differ: ${last.differing.join(", ") || "no node responds"}` : "no round yet");
    const { height, contradictedBy } = witness.signed() ?? {};
    const signed =
      height === undefined
        ? unhealthy("nothing yet")
        : contradictedBy
          ? unhealthy(`contradicted by ${contradictedBy.map(({ url }) => url).join(", ")}`)
          : healthy(`up to height ${height}`);
    return { isReady: nodes.ok && signed.ok, checks: { nodes, signed } };
  };
  return {
    live: () => healthy("responds"),
    ready,
    status: async () => ({ version, verifierKey, ...(await ready()) }),
    metricsType: registry.contentType,
    async metrics() {
      const { size = 0, height = 0 } = witness.signed() ?? {};
      const { agreed = [], differing = [], failed = [] } = witness.last() ?? {};
      showUsage();
      showWitness({
        size,
        height,
        agreed: agreed.length,
        differing: differing.length,
        failed: failed.length,
      });
      return registry.metrics();
    },
  };
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
