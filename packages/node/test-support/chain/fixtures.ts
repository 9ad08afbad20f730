/** Chains of test/vectors/state in database files. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Change,
  createMemoryState,
  type MemoryState,
  TABLE_NAMES,
  type TableName,
} from "@uniknode/ledger";
import { createNetwork, createSlots, genesisBlockFromJson, hexToBytes } from "@uniknode/protocol";
import { Chain, type ChainDeps, type ChainOptions, DEFAULT_CHAIN_OPTIONS } from "../../src/chain/chain.ts";
import { eventsOfFacts, eventsOfRevert } from "../../src/events/block-events.ts";
import { type Database, openDatabase, type Statement } from "../../src/store/engine/database.ts";
import { Dictionary, GENERATORS } from "../../src/store/engine/dictionary.ts";
import { EventLog } from "../../src/store/events/event-log.ts";
import { packedRoundText, type RoundRow } from "../../src/store/state/packed-round.ts";
import { StateStore } from "../../src/store/state/state.ts";
import { BatchVerifier } from "../../src/verification/verifier.ts";
import { openMigrated } from "../store/migrated.ts";

export const CHAINS = ["chain-1", "chain-random-1", "chain-random-2", "chain-random-3", "chain-random-5"];

/** Content of a vector file; its own notes describe it. */
// biome-ignore lint/suspicious/noExplicitAny: vector files have one shape each
export type Content = any;

export const readChain = (name: string): Content =>
  JSON.parse(readFileSync(new URL(`../../../../test/vectors/state/${name}.json`, import.meta.url), "utf8"));

export const blocksOf = ({ blocks }: Content): Uint8Array[] =>
  blocks.map(({ serialized }: { serialized: string }) => hexToBytes(serialized));

/** A time after every block of the vectors. */
export const LATE = Date.parse("2100-01-01T00:00:00Z");

export type OpenChain = { chain: Chain; database: Database; close: () => Promise<void> };

export type OpenOptions = Partial<ChainOptions> & {
  readonly recordedNames?: ReadonlySet<string>;
  readonly deps?: Partial<ChainDeps>;
  readonly openFile?: (path: string) => Database;
};

/** Opens a chain in a database file; `close` closes everything. */
export function openChain(content: Content, path: string, options: OpenOptions = {}): OpenChain {
  const { recordedNames = new Set(), deps, openFile = openDatabase, ...chainOptions } = options;
  const network = createNetwork(content.network);
  const slots = createSlots(network);
  const database = openMigrated(path, openFile);
  const verifier = new BatchVerifier({ threads: 0 });
  const chain = new Chain(
    { ...DEFAULT_CHAIN_OPTIONS, cacheSize: 50, ...chainOptions },
    {
      database,
      network,
      genesis: genesisBlockFromJson(content.genesis, network),
      verifier,
      events: new EventLog(database, { recordedNames: () => recordedNames, now: () => 0 }),
      eventsOfFacts: (facts, header) => eventsOfFacts(facts, header, slots),
      eventsOfRevert: (block, wallets) => eventsOfRevert(block, wallets, slots),
      now: () => LATE,
      onListenerError: rethrow,
      onUnexpectedError: rethrow,
      ...deps,
    },
  );
  const close = async () => {
    await chain.close();
    await verifier.close();
    database.close();
  };
  return { chain, database, close };
}

function rethrow(error: unknown): never {
  throw error;
}

/** Creates a folder for the databases of one test, and returns it with the function that removes it. */
export function temporaryFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "uniknode-chain-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * Tables that are not part of the chain: the event log and its readers, the pool, the forger's memory, and
 * the fact tree with the map of uniks, which lag. Keys and addresses have other numbers after other reverts, ids are in other levels, and
 * properties in other parts.
 */
const OTHER_TABLES = `'migrations', 'sqlite_sequence', 'events', 'cursors', 'pool', 'fact_sizes', 'fact_tiles', 'forged_slots', 'missed_slots',
   'unik_map', 'unik_rows', 'unik_before', 'unik_roots', 'property_parts',
   'generators', 'blocks', 'rounds', 'senders', 'recipients', 'transactions', 'payees', 'block_ids', 'transaction_ids'`;
const CHAIN_COLUMNS = `SELECT m.name || ' ' || c.name AS text FROM sqlite_master m, pragma_table_info(m.name) c
  WHERE m.type = 'table' AND m.name NOT IN (${OTHER_TABLES}) AND m.name NOT GLOB '*webhook*' AND m.name NOT GLOB '*deliver*'
  ORDER BY m.name, c.cid`;

const BLOCK_COLUMNS = [
  ...["height", "id", "version", "timestamp", "number_of_transactions", "transactions_up_to", "total_amount"],
  ...["total_fee", "reward", "payload_length", "public_key", "header"],
];
const TRANSACTION_COLUMNS = [
  ...[
    "height",
    "sequence",
    "id",
    "version",
    "type_group",
    "type",
    "public_key",
    "address",
    "nonce",
    "amount",
  ],
  ...["fee", "vendor_field", "is_alive", "signatures", "asset", "bytes"],
];

/** Serializes every row that the chain wrote: equal dumps mean equal databases. */
export function dumpOf(database: Database): string[] {
  const tables = new Map<string, string[]>();
  for (const [table = "", column = ""] of textsOf(database, CHAIN_COLUMNS).map((text) => text.split(" ")))
    tables.set(table, [...(tables.get(table) ?? []), column]);
  const rows = (...parts: Parameters<typeof rowsSql>) => textsOf(database, rowsSql(...parts)).sort();
  return [
    ...[...tables].flatMap(([table, columns]) => rows(table, columns)),
    ...rows("blocks", BLOCK_COLUMNS, "blocks JOIN generators ON number = generator"),
    ...rows(
      "transactions",
      TRANSACTION_COLUMNS,
      "transactions JOIN senders ON senders.number = sender LEFT JOIN recipients ON recipients.number = recipient",
    ),
    ...rows("payees", ["address", "height", "sequence"], "payees JOIN recipients ON number = payee"),
    ...rows("block_ids", ["prefix", "height"]),
    ...rows("transaction_ids", ["prefix", "height", "sequence"]),
    ...roundsOf(database),
  ];
}

/** Reads each row as one text, which is faster than its columns. */
const rowsSql = (table: string, columns: readonly string[], from = table): string =>
  `SELECT '${table} ' || ${columns.map(textOf).join(" || ' ' || ")} AS text FROM ${from}`;

const textOf = (column: string): string =>
  `CASE typeof("${column}") WHEN 'blob' THEN hex("${column}") ELSE ifnull("${column}", 'null') END`;

const statements = new WeakMap<Database, Map<string, Statement<{ text: string }>>>();

/** Prepares a statement once for each database: tests read dumps after every block. */
function textsOf(database: Database, sql: string): string[] {
  const prepared = statements.get(database) ?? new Map<string, Statement<{ text: string }>>();
  statements.set(database, prepared);
  const statement = prepared.get(sql) ?? database.prepare<{ text: string }>(sql);
  prepared.set(sql, statement);
  return statement.all().map(({ text }) => text);
}

function roundsOf(database: Database): string[] {
  const generators = new Dictionary(database, GENERATORS);
  return database
    .prepare<RoundRow>("SELECT round, height, delegates FROM rounds ORDER BY round")
    .all()
    .map((row) => `rounds ${packedRoundText(row, generators)}`);
}

/** Changes the votes of a delegate in each round, as a node would store them that counts differently. */
export const OTHER_VOTES = `UPDATE rounds SET delegates =
  CAST(substr(delegates, 1, 3) || x'0000000000000001' || substr(delegates, 12) AS BLOB)`;

const KEYS: Record<"wallets" | "tokens" | "properties" | "rounds" | "holdings", string> = {
  wallets: "SELECT address AS text FROM wallets",
  tokens: "SELECT id AS text FROM tokens",
  properties: "SELECT token || '/' || key AS text FROM properties",
  rounds: "SELECT CAST(round AS TEXT) AS text FROM rounds",
  holdings: "SELECT address || '/' || kind || '/' || id AS text FROM holdings",
};

const keysOf = (database: Database, table: TableName): string[] =>
  textsOf(
    database,
    KEYS[table as keyof typeof KEYS] ?? `SELECT key AS text FROM entries WHERE space = '${table}'`,
  );

/** Reads the content of the file with a store that has nothing in memory. */
export function stateInFile(database: Database): MemoryState {
  const store = new StateStore(database, { cacheSize: 1 });
  const state = createMemoryState();
  state.commit(
    TABLE_NAMES.flatMap((table) =>
      keysOf(database, table).map(
        (key) => ({ table, key, before: undefined, after: store.get(table, key) }) as Change,
      ),
    ),
  );
  return state;
}
