/** A node without peers that holds the chain of the kit and serves it. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, inflateSync } from "node:zlib";
import {
  createNetwork,
  genesisBlockFromJson,
  hexToBytes,
  type NetworkFiles,
  sealedFromTrustedBytes,
  transactionToJson,
} from "@uniknode/protocol";
import { pino } from "pino";
import { createChain, DEFAULT_CHAIN_OPTIONS } from "../../../src/chain/chain.ts";
import { createVerifier } from "../../../src/chain/verifier.ts";
import { createHttpServer } from "../../../src/http/server.ts";
import { BodyError, type Gateway } from "../../../src/serving/gateway.ts";
import { openDatabase } from "../../../src/store/database.ts";
import { createEventLog } from "../../../src/store/events.ts";
import { migrate } from "../../../src/store/migrations.ts";

/** `chain.json` of the kit. */
type Kit = {
  network: NetworkFiles["network"];
  milestones: NetworkFiles["milestones"];
  exceptions: NetworkFiles["exceptions"];
  genesisBlock: Record<string, unknown>;
  blocks: { height: number; serialized: string }[];
  poolTransactions: { id: string; serialized: string }[];
};

/** Like the kit's: on, but never reached. */
const RATE_LIMIT = { limit: 1_000_000, windowMs: 60_000 };
const NO_EVENTS: ReadonlySet<string> = new Set();
/** Settings of the recorded node. */
const FEE_POLICY = {
  dynamic: true,
  minFeePool: 1_000,
  minFeeBroadcast: 1_000,
  addonBytes: {
    transfer: 100,
    secondSignature: 250,
    delegateRegistration: 400_000,
    vote: 100,
    multiSignature: 500,
    ipfs: 250,
    multiPayment: 500,
    delegateResignation: 100,
    htlcLock: 100,
    htlcClaim: 0,
    htlcRefund: 0,
  },
};

export async function startNode(folder: string) {
  const kit = JSON.parse(readFileSync(join(folder, "chain.json"), "utf8")) as Kit;
  const data = mkdtempSync(join(tmpdir(), "uniknode-parity-"));
  const path = join(data, "node.sqlite");
  const database = openDatabase(path);
  migrate(database);
  const { genesisBlock, blocks, poolTransactions, ...files } = kit;
  const network = createNetwork(files);
  const logger = pino({ level: "error" });
  const verifier = createVerifier({ threads: 0 });
  const chain = createChain(DEFAULT_CHAIN_OPTIONS, {
    database,
    network,
    genesis: genesisBlockFromJson(genesisBlock, network),
    verifier,
    events: createEventLog(database, { wanted: () => NO_EVENTS }),
    eventsOfFacts: () => [],
    eventsOfRevert: () => [],
    now: Date.now,
    onListenerError: (err) => logger.error({ err }, "a listener failed"),
  });
  const outcomes = await chain.accept(blocks.map(({ serialized }) => hexToBytes(serialized)));
  const refused = outcomes.findIndex(({ answer }) => answer !== "Accepted");
  if (refused !== -1) {
    throw new Error(
      `block ${blocks[refused]?.height} was not accepted: ${JSON.stringify(outcomes[refused])}`,
    );
  }
  const reader = openDatabase(path, { readonly: true });
  const server = createHttpServer(
    { host: "127.0.0.1", port: 0, rateLimit: RATE_LIMIT },
    {
      database: reader,
      network,
      identity: {
        version: "5.7.2",
        genesisBlock,
        feePolicy: FEE_POLICY,
        ports: { "@arkecosystem/core-api": 4003 },
      },
      gateway: createGateway(poolTransactions, () => chain.head().height),
      plugins: [],
      nowMs: Date.now,
      logger,
    },
  );
  const { port } = await server.listen();
  return {
    port,
    async close() {
      await server.close();
      reader.close();
      await chain.close();
      await verifier.close();
      database.close();
      rmSync(data, { recursive: true });
    },
  };
}

/** Holds the kit's pending transactions in forging order. Submissions are compared by the vectors of the pool. */
function createGateway(pending: Kit["poolTransactions"], height: () => number): Gateway {
  const transactions = pending
    .map(({ id, serialized }) => sealedFromTrustedBytes(hexToBytes(serialized), id).data)
    .toSorted((a, b) => Number(b.fee - a.fee))
    .map(transactionToJson);
  return {
    submit: async () => {
      throw new BodyError("this node takes no transactions");
    },
    pendingTransactions: async ({ offset, limit }) => ({
      transactions: transactions.slice(offset, offset + limit),
      totalCount: transactions.length,
    }),
    pendingTransaction: async (id) => transactions.find((transaction) => transaction.id === id),
    status: async () => ({ synced: true, now: height(), blocksCount: 0, timestamp: 0 }),
    webhooksChanged: async () => {},
  };
}

/** The text of a body as it came over the wire. */
export function textOf(body: Buffer, encoding: string | undefined): string {
  if (encoding === "gzip") return gunzipSync(body).toString();
  return (encoding === "deflate" ? inflateSync(body) : body).toString();
}
