/** Node without peers that has the chain of the kit and its pending transactions, and serves both. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createNetwork,
  createSlots,
  genesisBlockFromJson,
  hexToBytes,
  type Network,
  type NetworkFiles,
} from "@uniknode/protocol";
import { type Logger, pino } from "pino";
import { Chain, DEFAULT_CHAIN_OPTIONS } from "../../src/chain/chain.ts";
import type { Server } from "../../src/http/core/app.ts";
import { HttpServer } from "../../src/http/server/server.ts";
import { DEFAULT_POOL_OPTIONS } from "../../src/pool/pool-options.ts";
import { NodeGateway } from "../../src/processes/node/node-gateway.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { EventLog } from "../../src/store/events/event-log.ts";
import { BatchVerifier, type Verifier } from "../../src/verification/verifier.ts";
import { openPoolBeside } from "../pool/beside.ts";
import { IDLE_NODE } from "../pool/idle-node.ts";
import { type OpenReadModel, openSqlite } from "./read-models.ts";

/** `chain.json` of the kit. */
type Kit = {
  network: NetworkFiles["network"];
  milestones: NetworkFiles["milestones"];
  exceptions: NetworkFiles["exceptions"];
  genesisBlock: Record<string, unknown>;
  blocks: { height: number; serialized: string }[];
  poolTransactions: unknown;
};

/** Like the kit's: enabled, but never reached. */
const RATE_LIMIT = { limit: 1_000_000, windowMs: 60_000 };
const NO_EVENTS: ReadonlySet<string> = new Set();

type Options = {
  /** The default, 0, selects a free port. */
  readonly httpPort?: number;
  /** Extends the server before it listens. */
  readonly prepare?: (app: Server) => void;
  /** Default: SQLite. */
  readonly openReadModel?: OpenReadModel;
};

export async function startNode(
  folder: string,
  { httpPort = 0, prepare = () => {}, openReadModel = openSqlite }: Options = {},
) {
  const kit = JSON.parse(readFileSync(join(folder, "chain.json"), "utf8")) as Kit;
  const data = mkdtempSync(join(tmpdir(), "uniknode-parity-"));
  const path = join(data, "node.sqlite");
  const database = openDatabase(path);
  migrate(database);
  const { genesisBlock, blocks: _, poolTransactions: __, ...files } = kit;
  const network = createNetwork(files);
  const logger = pino({ level: "error" });
  const verifier = new BatchVerifier({ threads: 0 });
  const chain = await openKitChain(kit, { database, network, verifier, logger });
  const { pool, gateway } = await openKitPool(folder, chain, { database, network, verifier });
  const read = await openReadModel(path, network);
  const server = new HttpServer(
    { host: "127.0.0.1", port: httpPort, rateLimit: RATE_LIMIT },
    {
      readModel: read.model,
      network,
      identity: {
        version: "5.7.2",
        genesisBlock,
        feePolicy: DEFAULT_POOL_OPTIONS.fees,
        ports: { "@arkecosystem/core-api": 4003 },
      },
      gateway,
      plugins: [],
      nowMs: Date.now,
      logger,
    },
  );
  prepare(server.app);
  const { port } = await server.listen();
  return {
    port,
    height: chain.head().height,
    path,
    network,
    async close() {
      await server.close();
      await read.close();
      await pool.close();
      await chain.close();
      await verifier.close();
      database.close();
      rmSync(data, { recursive: true });
    },
  };
}

type Parts = { readonly database: Database; readonly network: Network; readonly verifier: Verifier };

/** Opens the chain with the blocks of the kit. */
async function openKitChain(
  { genesisBlock, blocks }: Kit,
  { database, network, verifier, logger }: Parts & { readonly logger: Logger },
): Promise<Chain> {
  const chain = new Chain(DEFAULT_CHAIN_OPTIONS, {
    database,
    network,
    genesis: genesisBlockFromJson(genesisBlock, network),
    verifier,
    events: new EventLog(database, { recordedNames: () => NO_EVENTS }),
    eventsOfFacts: () => [],
    eventsOfRevert: () => [],
    now: Date.now,
    onListenerError: (err) => logger.error({ err }, "a listener failed"),
  });
  const outcomes = await chain.accept(blocks.map(({ serialized }) => hexToBytes(serialized)));
  const refused = outcomes.findIndex(({ kind }) => kind !== "Accepted");
  if (refused !== -1) {
    throw new Error(
      `block ${blocks[refused]?.height} was not accepted: ${JSON.stringify(outcomes[refused])}`,
    );
  }
  return chain;
}

/** Opens the pool with the pending transactions of the kit. */
async function openKitPool(folder: string, chain: Chain, { database, network, verifier }: Parts) {
  const slots = createSlots(network);
  const now = () => slots.timeAt(Date.now());
  const pool = openPoolBeside(chain, { network, database, verify: (checks) => verifier.verify(checks), now });
  const gateway = new NodeGateway(
    { poolMaxPerRequest: 40 },
    { pool, network, slots, head: chain.head, blocks: chain.blocks, now, ...IDLE_NODE },
  );
  const { transactions } = JSON.parse(readFileSync(join(folder, "pool.json"), "utf8"));
  const { errors } = await gateway.submit(transactions);
  if (errors) throw new Error(`pending transactions were not accepted: ${JSON.stringify(errors)}`);
  return { pool, gateway };
}
