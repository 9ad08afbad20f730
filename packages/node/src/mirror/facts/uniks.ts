/** The map of uniks of a mirror (facts.md 10): its root after each round is a leaf of the tree of facts. */
import { tokenEffect } from "@uniknode/ledger";
import {
  addressFromPublicKey,
  type Network,
  sealedFromTrustedBytes,
  type Transaction,
} from "@uniknode/protocol";
import {
  decodePage,
  EMPTY_MAP,
  encodePage,
  keyOf,
  type Page,
  type Pages,
  pathOf,
  putLeaves,
} from "../../facts/uniks/map.ts";
import type { MapRoot } from "../../facts/uniks/store.ts";
import {
  changedValues,
  leavesOf,
  UNIK_GROUPS,
  type UnikValue,
  type ValueContext,
  valueFromText,
  valueText,
} from "../../facts/uniks/values.ts";
import { present } from "../../platform/present.ts";
import type { Transaction as Commit, Query } from "../../postgres/connection.ts";
import { upsertRows } from "../statements.ts";

/** The map after a round that ended at the height; 0: it is empty. */
type MapState = MapRoot & { readonly height: number };

/** A transaction of the chain with its height. */
type Placed = { readonly height: number; readonly data: Transaction };

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
  const placed = await readTransactions(commit.query, map.height + 1, last);
  const work = await loadWork(commit.query, placed, network);
  for (const height of ends) {
    const ofRound = placed.filter(
      (transaction) => transaction.height > map.height && transaction.height <= height,
    );
    map = { height, ...addRound(map, ofRound, work) };
    roots.set(height, { root: map.root, uniks: map.uniks });
  }
  await writeWork(commit, work);
  await commit.change(
    `INSERT INTO unik_map (height, root, uniks) VALUES ($1, $2, $3)
     ON CONFLICT (is_single) DO UPDATE SET height = $1, root = $2, uniks = $3`,
    [map.height, map.root, map.uniks],
  );
  return roots;
}

export async function emptyMap(commit: Commit): Promise<void> {
  for (const table of ["unik_map", "unik_values", "unik_pages"]) await commit.change(`DELETE FROM ${table}`);
}

async function readMap(query: Query): Promise<MapState> {
  const [row] = await query<{ height: string; root: string; uniks: string }>(
    "SELECT height, root, uniks FROM unik_map",
  );
  if (!row) return { height: 0, root: EMPTY_MAP, uniks: 0 };
  return { height: Number(row.height), root: row.root, uniks: Number(row.uniks) };
}

async function readTransactions(query: Query, first: number, last: number): Promise<Placed[]> {
  const rows = await query<{ height: string; id: string; bytes: Uint8Array }>(
    `SELECT height, id, bytes FROM transactions
     WHERE height BETWEEN $1 AND $2 AND type_group IN (${UNIK_GROUPS.join(", ")}) ORDER BY height, sequence`,
    [first, last],
  );
  return rows.map(({ height, id, bytes }) => ({
    height: Number(height),
    data: sealedFromTrustedBytes(bytes, id).data,
  }));
}

/** Values and pages that the transactions can change, with the changes. */
type Work = {
  readonly context: ValueContext;
  readonly values: Map<string, UnikValue>;
  readonly pages: Map<string, Page>;
  readonly changedUniks: Set<string>;
  readonly changedPages: Set<string>;
};

async function loadWork(query: Query, placed: readonly Placed[], network: Network): Promise<Work> {
  const usernames = await readUsernames(query, placed);
  const context = {
    addressOf: (publicKey: string) => addressFromPublicKey(publicKey, network.description.pubKeyHash),
    usernameOf: (publicKey: string) => usernames.get(publicKey),
  };
  const uniks = placed.flatMap(({ data }) => {
    const effect = tokenEffect(data, { ...context, propertyOf: () => undefined });
    return effect ? [effect.tokenId] : [];
  });
  const values = await readValues(query, uniks);
  return {
    context: { ...context, valueBefore: (unik) => values.get(unik) },
    values,
    pages: await readPages(
      query,
      uniks.map((unik) => pathOf(keyOf(unik))),
    ),
    changedUniks: new Set(),
    changedPages: new Set(),
  };
}

function addRound({ root, uniks }: MapRoot, placed: readonly Placed[], work: Work): MapRoot {
  const { context, values, pages, changedUniks, changedPages } = work;
  const changed = changedValues(
    placed.map(({ data }) => data),
    context,
  );
  const minted = [...changed].filter(([unik, { owner }]) => owner !== null && !values.get(unik)?.owner);
  for (const [unik, value] of changed) {
    values.set(unik, value);
    changedUniks.add(unik);
  }
  const leaves = leavesOf(changed);
  if (leaves.length === 0) return { root, uniks };
  const store: Pages = {
    read: (path) => pages.get(path),
    write(path, page) {
      pages.set(path, page);
      changedPages.add(path);
    },
  };
  return { root: putLeaves(store, leaves), uniks: uniks + minted.length };
}

async function readUsernames(query: Query, placed: readonly Placed[]): Promise<Map<string, string>> {
  const keys = [...new Set(placed.map(({ data }) => data.senderPublicKey))];
  if (keys.length === 0) return new Map();
  const rows = await query<{ public_key: string; username: string }>(
    "SELECT public_key, username FROM wallets WHERE public_key = ANY($1) AND username IS NOT NULL",
    [keys],
  );
  return new Map(rows.map(({ public_key, username }) => [public_key, username]));
}

async function readValues(query: Query, uniks: readonly string[]): Promise<Map<string, UnikValue>> {
  if (uniks.length === 0) return new Map();
  const rows = await query<{ unik: string; value: Uint8Array }>(
    "SELECT unik, value FROM unik_values WHERE unik = ANY($1)",
    [[...new Set(uniks)]],
  );
  return new Map(rows.map(({ unik, value }) => [unik, valueFromText(Buffer.from(value).toString())]));
}

/** Reads the pages on the ways to keys, level by level. */
async function readPages(query: Query, keys: readonly string[]): Promise<Map<string, Page>> {
  const pages = new Map<string, Page>();
  let paths = keys.length === 0 ? [] : [""];
  for (let depth = 1; paths.length > 0; depth++) {
    const rows = await query<{ path: string; nodes: Uint8Array }>(
      "SELECT path, nodes FROM unik_pages WHERE path = ANY($1)",
      [paths],
    );
    for (const { path, nodes } of rows) pages.set(path, decodePage(nodes));
    const found = new Set(rows.map(({ path }) => path));
    const below = keys.filter((key) => found.has(key.slice(0, depth - 1))).map((key) => key.slice(0, depth));
    paths = [...new Set(below)];
  }
  return pages;
}

async function writeWork(commit: Commit, work: Work): Promise<void> {
  const { values, pages, changedUniks, changedPages } = work;
  const valueRows = [...changedUniks].map((unik) => [
    unik,
    Buffer.from(valueText(present(values.get(unik)))),
  ]);
  const pageRows = [...changedPages].map((path) => [path, encodePage(present(pages.get(path)))]);
  await upsertRows(commit, "unik_values", [UNIK, VALUE], 1, valueRows);
  await upsertRows(commit, "unik_pages", [PATH, NODES], 1, pageRows);
}

const UNIK = ["unik", "text"] as const;
const VALUE = ["value", "bytea"] as const;
const PATH = ["path", "text"] as const;
const NODES = ["nodes", "bytea"] as const;
