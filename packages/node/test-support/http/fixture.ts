/** Servers over the small chain, each with its own database. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Block, encodeHeader, transactionToJson } from "@uniknode/protocol";
import { pino } from "pino";
import type { NodeReport } from "../../src/gateway/figures.ts";
import { BodyError, DevError, type Gateway } from "../../src/gateway/gateway.ts";
import { type HttpDependencies, type HttpOptions, HttpServer } from "../../src/http/server/server.ts";
import { present } from "../../src/platform/present.ts";
import { createPendingTexts } from "../../src/pool/pending-pages.ts";
import { SqliteReadModel, type SqliteReadModelOptions } from "../../src/read/sqlite/read-model.ts";
import { BlockStore } from "../../src/store/chain/blocks.ts";
import { TransactionStore } from "../../src/store/chain/transactions.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { openHistory } from "../../src/store/history/writer.ts";
import { StateStore, type Write } from "../../src/store/state/state.ts";
import { walletWrites } from "../store/holdings.ts";
import { chain, heads, tokens, wallets } from "./chain.ts";
import { checkResponses } from "./described.ts";

/** Additions of a test to the chain and to the state at its head. */
export type Additions = {
  readonly blocks: readonly Block[];
  readonly writes: readonly Write[];
  /** Records a history in which each block adds one unit to the balance of this wallet. */
  readonly recorded?: string;
};
const NOTHING: Additions = { blocks: [], writes: [] };

/** Databases by their additions: most tests have the same ones. */
const written = new Map<Additions, Buffer>();

/** Writes the chain into a new database and returns its path. */
export function writeChain(folder: string, additions: Additions): string {
  const path = join(folder, "chain.sqlite");
  const known = written.get(additions);
  if (known) {
    writeFileSync(path, known);
    return path;
  }
  fillDatabase(path, additions);
  written.set(additions, readFileSync(path));
  return path;
}

function fillDatabase(path: string, { blocks, writes, recorded }: Additions): void {
  const database = openDatabase(path);
  migrate(database);
  const blockStore = new BlockStore(database);
  const transactionStore = new TransactionStore(database);
  const state = new StateStore(database, { cacheSize: 100 });
  state.write(
    wallets.flatMap(({ account: { address, publicKey }, isCold, balance, nonce, attributes }) =>
      walletWrites({ address, ...(!isCold && { publicKey }), balance, nonce, attributes }),
    ),
  );
  const { mint } = chain.sent;
  for (const { id, owner, properties } of tokens) {
    const [firstTransaction, lastTransaction] = [mint.data.id, chain.sent.vote.data.id];
    const after = { id, ownerId: owner.address, firstTransaction, lastTransaction };
    state.write([{ table: "tokens", key: id, after }]);
    for (const [key, value] of Object.entries(properties)) {
      state.write([{ table: "properties", key: `${id}/${key}`, after: value }]);
    }
  }
  state.write(writes);
  database.transaction(() => {
    for (const block of [...chain.blocks, ...blocks]) {
      blockStore.append({ ...block, headerBytes: encodeHeader(block.header, chain.network) });
      transactionStore.append(block);
    }
    state.flush();
    if (recorded !== undefined) writeHistory(database, recorded, chain.blocks.length + blocks.length);
  });
  database.close();
}

function writeHistory(database: Database, address: string, head: number): void {
  const wallet = present(new StateStore(database, { cacheSize: 1 }).get("wallets", address), "the wallet");
  const walletAt = (height: number) => ({ ...wallet, balance: wallet.balance - BigInt(head - height) });
  const history = present(openHistory(database, true), "the history");
  history.begin(1);
  for (let height = 2; height <= head; height++) {
    const [before, after] = [walletAt(height - 1), walletAt(height)];
    history.append(height, [{ table: "wallets", key: address, before, after }]);
  }
}

/** Figures of a node in sync. */
export const REPORT: NodeReport = {
  height: heads.head.height,
  headAgeSeconds: 3,
  blocksBehind: 0,
  synced: true,
  revertedBlocks: 0,
  poolSize: chain.waiting.length,
  poolBytes: 0,
  poolWaiting: 0,
  poolUnchecked: 0,
  poolRecheckMs: 0,
  admission: { usedMs: 0, perSlotMs: 4_800, exhaustedSlots: 0 },
  poolRefused: {},
  peers: chain.peers.length,
  traffic: { receivedBytes: 0, sentBytes: 0 },
  forged: 7,
  missed: 2,
  refused: { signed_before: 0, watching: 0, other_forger: 0, head_in_future: 0 },
  keysUsedElsewhere: 0,
  facts: { size: 0, height: 0, lag: 0 },
  heapBytes: 1_000_000,
  logLinesLost: 0,
};

/** Node of the server: a list of pending transactions, and a record of submissions. */
export function createGateway(): Gateway & { submitted: unknown[][] } {
  const waiting = chain.waiting.map(createPendingTexts());
  const submitted: unknown[][] = [];
  return {
    submitted,
    async submit(transactions) {
      if (transactions.length === 0) throw new BodyError("there must be at least one transaction");
      submitted.push(transactions);
      const ids = transactions.map((transaction) =>
        String((transaction as { id?: unknown } | null)?.id ?? ""),
      );
      return {
        data: { accept: [], broadcast: [], excess: [], invalid: ids },
        errors: Object.fromEntries(ids.map((id) => [id, [{ type: "ERR_LOW_FEE", message: "too low" }]])),
      };
    },
    async pendingTransactions({ offset, limit, afterId }) {
      const start = waiting.findIndex(({ members }) => members.id === afterId) + 1 || offset;
      return {
        transactions: waiting.slice(start, start + limit),
        offset: start,
        totalCount: waiting.length,
      };
    },
    pendingTransaction: async (id) => waiting.find(({ members }) => members.id === id),
    status: async () => ({ synced: true, now: heads.head.height, blocksCount: 0, timestamp: 30 }),
    peers: async () => chain.peers,
    webhooksChanged: async () => {},
    figures: async () => ({ ...REPORT, loopDelay: { p50: 0, p99: 0.001, max: 0.002 } }),
    report: async () => REPORT,
    streamsChanged: async (names) => Object.fromEntries(names.map((name) => [name, 0])),
    replaceRemoteNames: async () => ({ lastSequence: 0 }),
    dev: () => Promise.reject(new DevError("DEV_ONLY", "only a dev chain")),
  };
}

export const identity: HttpDependencies["identity"] = {
  version: "5.7.2",
  genesisBlock: {
    id: heads.genesis.id,
    transactions: present(chain.blocks[0]).transactions.map(({ data }) => transactionToJson(data)),
  },
  feePolicy: { dynamic: true, minFeePool: 1_000, minFeeBroadcast: 2_000, addonBytes: { transfer: 100 } },
  ports: { "@arkecosystem/core-api": 4003 },
};

/** Current time of the tests: one day after the epoch of the network. */
export const NOW_MS = Date.parse("2019-09-20T11:42:10.474Z");

/** Server over its own chain. */
export function openFixture(
  options: Partial<HttpOptions> & SqliteReadModelOptions = {},
  dependencies: Partial<HttpDependencies> & { readonly database?: Database } = {},
  additions = NOTHING,
) {
  const { readTimeoutMs, valueIndexes, onPlan, ...httpOptions } = options;
  const folder = mkdtempSync(join(tmpdir(), "uniknode-http-"));
  const database = openDatabase(writeChain(folder, additions), { readonly: true });
  const gateway = createGateway();
  const readModel = new SqliteReadModel(
    {
      ...(readTimeoutMs !== undefined && { readTimeoutMs }),
      ...(valueIndexes && { valueIndexes }),
      ...(onPlan && { onPlan }),
    },
    { database: dependencies.database ?? database, network: chain.network },
  );
  const server = new HttpServer(
    { host: "127.0.0.1", port: 0, ...httpOptions },
    {
      readModel,
      network: chain.network,
      identity,
      gateway,
      plugins: [],
      nowMs: () => NOW_MS,
      logger: pino({ level: "silent" }),
      ...dependencies,
    },
  );
  checkResponses(server.app);
  return {
    app: server.app,
    connections: () => server.connections(),
    listen: () => server.listen(),
    readModel,
    database,
    gateway,
    path: join(folder, "chain.sqlite"),
    get: (url: string, headers: Record<string, string> = {}) => server.app.inject({ url, headers }),
    post: (url: string, payload: object) => server.app.inject({ method: "POST", url, payload }),
    async close() {
      await server.close();
      database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

export type Fixture = ReturnType<typeof openFixture>;

/** Response of a list; tests read its rows. */
export const rowsOf = (response: { json(): unknown }) =>
  (response.json() as { data: Record<string, unknown>[] }).data;
