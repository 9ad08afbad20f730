/** Health and metrics of an API server. */
import type { RemoteGateway } from "../../gateway/gateway.ts";
import type { HttpGateway } from "../../gateway/http.ts";
import { type Check, healthy, type Readiness, unhealthy } from "../../operations/health.ts";
import type { Operations } from "../../operations/http/server.ts";
import {
  type ConnectionsOfListeners,
  createConnectionMetrics,
  HttpMetrics,
} from "../../operations/metrics/http.ts";
import { Registry } from "../../operations/metrics/instruments.ts";
import {
  blocksBehind,
  createServerMetrics,
  type ServerFigures,
} from "../../operations/metrics/other-processes.ts";
import { shared } from "../../operations/shared-result.ts";
import { PROTOCOL_VERSION, programVersion } from "../../platform/lifecycle/program.ts";
import type { Head, ReadModel } from "../../read/port.ts";

type ServerOperationsDeps = {
  readonly readModel: Pick<ReadModel, "snapshot">;
  readonly gateway: Pick<HttpGateway, "within">;
  readonly calls: () => ServerFigures["calls"];
  /** Returns the connections to the database. */
  readonly databaseConnections: () => ServerFigures["connections"];
  readonly connections: () => ConnectionsOfListeners;
};

/** Number of blocks by which the database may be behind the node. */
const MAX_BLOCKS_BEHIND = 10;
/** A load balancer waits for a few seconds only, and reads need no node. */
const NODE_TIMEOUT_MS = 2_000;

export class ServerOperations implements Operations {
  readonly http: HttpMetrics;
  readonly metricsType: string;
  readonly metrics: () => Promise<string>;
  readonly #state: () => Promise<State>;

  constructor(deps: ServerOperationsDeps) {
    const registry = new Registry();
    this.http = new HttpMetrics(registry);
    const showConnections = createConnectionMetrics(registry);
    const showServer = createServerMetrics(registry);
    this.metricsType = registry.contentType;
    this.#state = shared(() => readState(deps));
    this.metrics = shared(async () => {
      showConnections(deps.connections());
      showServer({
        calls: deps.calls(),
        ...heightsOf(await this.#state()),
        connections: deps.databaseConnections(),
      });
      return registry.metrics();
    });
  }

  live(): Check {
    return { ok: true, detail: "responds" };
  }

  async ready(): Promise<Readiness> {
    return toReadiness(await this.#state());
  }

  async status(): Promise<object> {
    const { node } = await this.#state();
    return {
      version: programVersion(),
      protocol: PROTOCOL_VERSION,
      uptimeSeconds: Math.round(process.uptime()),
      ...(await this.ready()),
      node: node ?? null,
    };
  }
}

type State = {
  readonly head: Head | Error;
  /** True if the database has another block than the last final one of the node. */
  readonly isOtherChain: boolean;
  /** Undefined: no node responds. */
  readonly node: Awaited<ReturnType<RemoteGateway["status"]>> | undefined;
};

async function readState({ readModel, gateway }: ServerOperationsDeps): Promise<State> {
  const node = await gateway
    .within(NODE_TIMEOUT_MS)
    .status()
    .catch(() => undefined);
  const final = node?.finalBlock;
  try {
    return await readModel.snapshot(async ({ head, blocks }) => {
      const block = final && (await blocks.byHeight(final.height));
      return { head, node, isOtherChain: block !== undefined && block.id !== final?.id };
    });
  } catch (error) {
    return { head: error as Error, node, isOtherChain: false };
  }
}

/** Heights of two chains are not compared. */
const heightsOf = ({ head, node, isOtherChain }: State) => ({
  isNodeUp: node !== undefined,
  height: head instanceof Error ? undefined : head.height,
  nodeHeight: isOtherChain ? undefined : node?.now,
});

/** Reads need the database only: a server whose nodes are down is ready. */
function toReadiness(state: State): Readiness {
  const { node } = state;
  const checks = {
    database: checkDatabase(state),
    node: { ok: true, detail: node ? "responds" : "does not respond: submissions and pool queries fail" },
  };
  return { isReady: checks.database.ok, checks };
}

function checkDatabase(state: State): Check {
  const { head, node, isOtherChain } = state;
  if (head instanceof Error) return unhealthy(head.message);
  if (isOtherChain)
    return unhealthy(
      `the node has another chain than the database: its block ${node?.finalBlock?.height} is ${node?.finalBlock?.id}; check --node and --database-url`,
    );
  const lag = blocksBehind(heightsOf(state));
  if (lag === undefined)
    return healthy(`at height ${head.height}, an unknown number of blocks behind the node`);
  const text = `at height ${head.height}, ${lag} blocks behind the node`;
  return lag <= MAX_BLOCKS_BEHIND ? healthy(text) : unhealthy(text);
}
