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
import { bytesToHex, createNetwork, createSlots, genesisBlockFromJson, hexToBytes } from "@uniknode/protocol";
import { Chain, type ChainDeps, type ChainOptions, DEFAULT_CHAIN_OPTIONS } from "../../src/chain/chain.ts";
import { eventsOfFacts, eventsOfRevert } from "../../src/events/block-events.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { Dictionary, GENERATORS } from "../../src/store/engine/dictionary.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { EventLog } from "../../src/store/events/event-log.ts";
import { packedRoundText, type RoundRow } from "../../src/store/state/packed-round.ts";
import { StateStore } from "../../src/store/state/state.ts";
import { BatchVerifier } from "../../src/verification/verifier.ts";

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
  const database = openFile(path);
  migrate(database);
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
const CHAIN_TABLES = `SELECT name FROM sqlite_master WHERE type = 'table'
  AND name NOT IN (${OTHER_TABLES}) AND name NOT GLOB '*webhook*' AND name NOT GLOB '*deliver*' ORDER BY name`;

/** Serializes every row that the chain wrote: equal dumps mean equal databases. */
export const dumpOf = (database: Database): string[] => [
  ...database
    .prepare<{ name: string }>(CHAIN_TABLES)
    .all()
    .flatMap(({ name }) => rowsOf(database, name)),
  ...blockRowsOf(database),
  ...transactionRowsOf(database),
  ...rowsOf(
    database,
    "payees",
    "SELECT address, height, sequence FROM payees JOIN recipients ON number = payee",
  ),
  ...rowsOf(database, "block_ids", "SELECT prefix, height FROM block_ids"),
  ...rowsOf(database, "transaction_ids", "SELECT prefix, height, sequence FROM transaction_ids"),
  ...roundsOf(database),
];

const rowsOf = (database: Database, table: string, sql = `SELECT * FROM ${table}`): string[] =>
  database
    .prepare<Record<string, unknown>>(sql, { bigints: true })
    .all()
    .map((row) => `${table} ${Object.values(row).map(textOf).join(" ")}`)
    .sort();

const blockRowsOf = (database: Database): string[] =>
  rowsOf(
    database,
    "blocks",
    `SELECT height, id, version, timestamp, number_of_transactions, transactions_up_to, total_amount, total_fee, reward,
       payload_length, public_key, header
     FROM blocks JOIN generators ON number = generator`,
  );

const transactionRowsOf = (database: Database): string[] =>
  rowsOf(
    database,
    "transactions",
    `SELECT height, sequence, id, version, type_group, type, public_key, address, nonce, amount, fee, vendor_field, is_alive,
       signatures, asset, bytes
     FROM transactions JOIN senders ON senders.number = sender LEFT JOIN recipients ON recipients.number = recipient`,
  );

function roundsOf(database: Database): string[] {
  const generators = new Dictionary(database, GENERATORS);
  return database
    .prepare<RoundRow>("SELECT round, height, delegates FROM rounds ORDER BY round")
    .all()
    .map((row) => `rounds ${packedRoundText(row, generators)}`);
}

const textOf = (value: unknown) => (value instanceof Uint8Array ? bytesToHex(value) : String(value));

/** Changes the votes of a delegate in each round, as a node would store them that counts differently. */
export const OTHER_VOTES = `UPDATE rounds SET delegates =
  CAST(substr(delegates, 1, 3) || x'0000000000000001' || substr(delegates, 12) AS BLOB)`;

const KEYS: Record<"wallets" | "tokens" | "properties" | "rounds" | "holdings", string> = {
  wallets: "SELECT address AS key FROM wallets",
  tokens: "SELECT id AS key FROM tokens",
  properties: "SELECT token || '/' || key AS key FROM properties",
  rounds: "SELECT CAST(round AS TEXT) AS key FROM rounds",
  holdings: "SELECT address || '/' || kind || '/' || id AS key FROM holdings",
};

const keysOf = (database: Database, table: TableName): string[] => {
  const sql = KEYS[table as keyof typeof KEYS] ?? `SELECT key FROM entries WHERE space = '${table}'`;
  return database
    .prepare<{ key: string }>(sql)
    .all()
    .map(({ key }) => key);
};

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
