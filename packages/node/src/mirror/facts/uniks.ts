/** The map of uniks of a mirror (facts.md 10): its root after each round is a leaf of the tree of facts. */
import { tokenEffect } from "@uniknode/ledger";
import {
  addressFromPublicKey,
  type Network,
  sealedFromTrustedBytes,
  type Transaction,
} from "@uniknode/protocol";
import { readUsernames } from "../../event-log/postgres/facts.ts";
import { type ChangeContext, Changes, UNIK_GROUPS } from "../../facts/uniks/changes.ts";
import { EMPTY_MAP, keyOf, nextPath, rootOf, textDigest, toHex } from "../../facts/uniks/map.ts";
import type { Digest } from "../../facts/uniks/page.ts";
import {
  bytesOf,
  MAP_PAGES,
  ownerKey,
  pagesKey,
  pagesOf,
  propertyKey,
  type Row,
  type Rows,
} from "../../facts/uniks/rows.ts";
import type { MapRoot } from "../../facts/uniks/state.ts";
import type { Transaction as Commit, Query } from "../../postgres/connection.ts";
import { deleteRows, upsertRows } from "../statements.ts";

/** The map after a round that ended at the height; 0: it is empty. */
type MapState = MapRoot & { readonly height: number };

/** A transaction of the chain with its height, its unik, and the properties that it changes and reads. */
type Placed = {
  readonly height: number;
  readonly data: Transaction;
  readonly unik: string;
  readonly changed: readonly string[];
  readonly read: readonly string[];
};

/** Some transactions of a round; `isLast`: no further ones follow. */
type Part = { readonly height: number; readonly isLast: boolean; readonly placed: readonly Placed[] };

/** Changes whose rows are in memory at once; a transaction is not split. */
const MAX_CHANGES = 4_000;

/**
 * Adds rounds to the map, in the caller's transaction.
 *
 * @param ends heights of the last blocks of consecutive rounds, from the first round that the map lacks
 * @returns the root after each round, by height
 */
export async function addRounds(
  commit: Commit,
  ends: readonly number[],
  network: Network,
): Promise<Map<number, MapRoot>> {
  const roots = new Map<number, MapRoot>();
  const last = ends.at(-1);
  if (last === undefined) return roots;
  let map = await readMap(commit.query);
  const { placed, context } = await readTransactions(commit.query, [map.height + 1, last], network);
  for (const parts of groupsOf(partsOf(placed, map.height, ends))) {
    const rows = await loadRows(
      commit.query,
      parts.flatMap((part) => part.placed),
    );
    for (const part of parts) {
      map = { height: part.height, ...addPart(map, part.placed, { rows, context }) };
      if (part.isLast) roots.set(part.height, { root: map.root, uniks: map.uniks });
    }
    await writeRows(commit, rows);
  }
  await commit.change(
    `INSERT INTO unik_map (height, root, uniks) VALUES ($1, $2, $3)
     ON CONFLICT (is_single) DO UPDATE SET height = $1, root = $2, uniks = $3`,
    [map.height, map.root, map.uniks],
  );
  return roots;
}

const sizeOf = ({ changed }: Placed): number => 1 + changed.length;

/** Splits the transactions by rounds, and large rounds into parts. */
function partsOf(placed: readonly Placed[], before: number, ends: readonly number[]): Part[] {
  return ends.flatMap((height, index) => {
    const first = ends[index - 1] ?? before;
    const ofRound = placed.filter((each) => each.height > first && each.height <= height);
    const parts = grouped(ofRound, sizeOf);
    return (parts.length === 0 ? [[]] : parts).map((some, part) => ({
      height,
      isLast: part >= parts.length - 1,
      placed: some,
    }));
  });
}

const groupsOf = (parts: readonly Part[]): Part[][] =>
  grouped(parts, ({ placed }) => placed.reduce((sum, each) => sum + sizeOf(each), 0));

/** Splits a list into adjacent groups of at most `MAX_CHANGES`, or of one element. */
function grouped<T>(list: readonly T[], size: (element: T) => number): T[][] {
  const groups: T[][] = [];
  let [total, group] = [Number.POSITIVE_INFINITY, [] as T[]];
  for (const element of list) {
    total += size(element);
    if (total > MAX_CHANGES) {
      group = [];
      groups.push(group);
      total = size(element);
    }
    group.push(element);
  }
  return groups;
}

export async function emptyMap(commit: Commit): Promise<void> {
  await commit.change("TRUNCATE unik_map, unik_rows");
}

async function readMap(query: Query): Promise<MapState> {
  const [row] = await query<{ height: string; root: string; uniks: string }>(
    "SELECT height, root, uniks FROM unik_map",
  );
  if (!row) return { height: 0, root: EMPTY_MAP, uniks: 0 };
  return { height: Number(row.height), root: row.root, uniks: Number(row.uniks) };
}

async function readTransactions(
  query: Query,
  range: readonly [first: number, last: number],
  network: Network,
): Promise<{ placed: Placed[]; context: ChangeContext }> {
  const rows = await query<{ height: string; id: string; bytes: Uint8Array }>(
    `SELECT height, id, bytes FROM transactions
     WHERE height BETWEEN $1 AND $2 AND type_group IN (${UNIK_GROUPS.join(", ")}) ORDER BY height, sequence`,
    [...range],
  );
  const all = rows.map(({ height, id, bytes }) => ({
    height: Number(height),
    data: sealedFromTrustedBytes(bytes, id).data,
  }));
  const usernames = await readUsernames(
    query,
    all.map(({ data }) => data.senderPublicKey),
  );
  const context = {
    addressOf: (publicKey: string) => addressFromPublicKey(publicKey, network.description.pubKeyHash),
    usernameOf: (publicKey: string) => usernames.get(publicKey),
  };
  const placed = all.flatMap(({ height, data }) => {
    const read: string[] = [];
    const propertyOf = (_unik: string, name: string) => void read.push(name);
    const effect = tokenEffect(data, { ...context, propertyOf });
    return effect
      ? [{ height, data, unik: effect.tokenId, changed: Object.keys(effect.properties), read }]
      : [];
  });
  return { placed, context };
}

/** Rows that transactions read and change, and the changed ones. */
type LoadedRows = Rows & { readonly changed: ReadonlyMap<string, Row | undefined> };

function addPart(
  { root, uniks }: MapRoot,
  placed: readonly Placed[],
  { rows, context }: { rows: LoadedRows; context: ChangeContext },
): MapRoot {
  if (placed.length === 0) return { root, uniks };
  const changes = new Changes(rows, context);
  for (const { data } of placed) changes.add(data, 0, Number.POSITIVE_INFINITY);
  const minted = changes.write();
  return { root: rootOf(pagesOf(rows, MAP_PAGES)), uniks: uniks + minted };
}

async function loadRows(query: Query, placed: readonly Placed[]): Promise<LoadedRows> {
  const loaded = new Map<string, Uint8Array>();
  const changed = new Map<string, Row | undefined>();
  const load = async (keys: Iterable<string>): Promise<void> => {
    const wanted = [...new Set(keys)].map(toHex);
    if (wanted.length === 0) return;
    const rows = await query<{ key: string; value: Uint8Array }>(
      "SELECT key, value FROM unik_rows WHERE key = ANY($1)",
      [wanted],
    );
    for (const { key, value } of rows) loaded.set(Buffer.from(key, "hex").toString("latin1"), value);
  };
  await load(
    placed.flatMap(({ unik, read, changed: names }) => [
      ownerKey(unik),
      ...[...read, ...names].map((name) => propertyKey(unik, textDigest(name))),
    ]),
  );
  await loadPages(load, (key) => loaded.has(key), placed.flatMap(waysOf));
  return {
    read: (key) => (changed.has(key) ? changed.get(key) : loaded.get(key)),
    change: (key, value) => void changed.set(key, value),
    changed,
  };
}

/** A page on the path to a key: the prefix of the keys of its rows, and its path. Without a key, the page is the last one. */
type Way = { readonly prefix: string; readonly path: string; readonly key: Digest | undefined };

const waysOf = ({ unik, changed, read }: Placed): Way[] => {
  const prefix = pagesKey(unik);
  return [
    { prefix: MAP_PAGES, path: "", key: keyOf(unik) },
    // The first page has the root also if no property changes.
    { prefix, path: "", key: undefined },
    ...[...changed, ...read].map((name) => ({ prefix, path: "", key: textDigest(name) })),
  ];
};

/** Loads pages level by level. */
async function loadPages(
  load: (keys: Iterable<string>) => Promise<void>,
  has: (key: string) => boolean,
  ways: readonly Way[],
): Promise<void> {
  for (let left = ways; left.length > 0; ) {
    await load(left.map(({ prefix, path }) => prefix + path));
    left = left.flatMap((way) =>
      way.key !== undefined && has(way.prefix + way.path)
        ? [{ ...way, path: nextPath(way.path, way.key) }]
        : [],
    );
  }
}

async function writeRows(commit: Commit, { changed }: LoadedRows): Promise<void> {
  const rows = [...changed].map(([key, value]) => [toHex(key), value] as const);
  const written = rows.flatMap(([key, value]) => (value ? [[key, bytesOf(value)]] : []));
  const removed = rows.flatMap(([key, value]) => (value ? [] : [[key]]));
  if (written.length > 0) await upsertRows(commit, "unik_rows", [KEY, VALUE], 1, written);
  if (removed.length > 0) await deleteRows(commit, "unik_rows", [KEY], removed);
}

const KEY = ["key", "text"] as const;
const VALUE = ["value", "bytea"] as const;
