/**
 * Holdings, of which a wallet can have any number: tokens, IPFS hashes, open locks, bridgechains and entities. Each is a record of
 * its own, so that a change costs the same whatever else the wallet holds (state.md 2.4). The attributes contain only
 * the number, the first and the last record of each kind. A record names its neighbours: the order of acquisition
 * decides the type of a vote, and responses show it.
 */
import { present } from "@uniknode/protocol";
import type { Draft } from "./draft.ts";
import type {
  Attributes,
  Bridgechain,
  Collection,
  Entity,
  Holding,
  HoldingKind,
  Holdings,
  Lock,
  StateReader,
} from "./tables.ts";

/** The holdings of one kind of one wallet. */
export type HoldingsOf<K extends HoldingKind> = { readonly address: string; readonly kind: K };

/** Addresses and kinds contain no slash; ids can. */
export const holdingKey = (address: string, kind: HoldingKind, id: string): string =>
  `${address}/${kind}/${id}`;

export function parseHoldingKey(key: string): { address: string; kind: HoldingKind; id: string } {
  const [address = "", kind = ""] = key.split("/", 2);
  return { address, kind: kind as HoldingKind, id: key.slice(address.length + kind.length + 2) };
}

export function findHolding<K extends HoldingKind>(
  state: StateReader,
  { address, kind }: HoldingsOf<K>,
  id: string,
): Holdings[K] | undefined {
  return state.get("holdings", holdingKey(address, kind, id))?.value as Holdings[K] | undefined;
}

/** Writes a holding after the others; one that exists keeps its position. Returns the collection with it. */
export function addHolding<K extends HoldingKind>(
  draft: Draft,
  { address, kind }: HoldingsOf<K>,
  collection: Collection | undefined,
  [id, value]: readonly [id: string, value: Holdings[K]],
): Collection {
  const key = holdingKey(address, kind, id);
  const existing = draft.get("holdings", key);
  draft.set(
    "holdings",
    key,
    existing ? { ...existing, value } : { value, ...(collection?.last && { previous: collection.last }) },
  );
  if (existing && collection) return collection;
  if (collection?.last) link(draft, holdingKey(address, kind, collection.last), { next: id });
  return { size: (collection?.size ?? 0) + 1, first: collection?.first ?? id, last: id };
}

/** Removes a holding, if it exists. Returns the collection without it. */
export function removeHolding<K extends HoldingKind>(
  draft: Draft,
  { address, kind }: HoldingsOf<K>,
  collection: Collection,
  id: string,
): Collection {
  const key = holdingKey(address, kind, id);
  const holding = draft.get("holdings", key);
  if (!holding) return collection;
  const { size, first, last } = collection;
  const { previous, next } = holding;
  draft.set("holdings", key, undefined);
  if (previous !== undefined) link(draft, holdingKey(address, kind, previous), { next });
  if (next !== undefined) link(draft, holdingKey(address, kind, next), { previous });
  return {
    size: size - 1,
    ...defined({ first: id === first ? next : first, last: id === last ? previous : last }),
  };
}

type Links = { readonly previous?: string | undefined; readonly next?: string | undefined };

/**
 * Replaces links of a record; an undefined link is removed. The views of the pool can be older than the chain below them,
 * which may no longer have the record: they only check their sender, and are built again.
 */
function link(draft: Draft, key: string, links: Links): void {
  const holding = draft.get("holdings", key);
  if (!holding) return;
  const { value, ...before } = holding;
  draft.set("holdings", key, { value, ...defined({ ...before, ...links }) });
}

/** The members that are not undefined. */
const defined = <T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

type Business = NonNullable<Attributes["business"]>;

/** Attributes of a wallet as responses show them: with what it holds, in order of acquisition. */
export type ShownAttributes = Omit<Attributes, "tokens" | "ipfs" | "htlc" | "business" | "entities"> & {
  readonly tokens?: Readonly<Record<string, { readonly type: number }>>;
  readonly ipfs?: { readonly hashes: Readonly<Record<string, true>> };
  readonly htlc?: { readonly locks: Readonly<Record<string, Lock>>; readonly lockedBalance: bigint };
  readonly business?: Omit<Business, "bridgechains"> & {
    readonly bridgechains?: Readonly<Record<string, Bridgechain>>;
  };
  readonly entities?: Readonly<Record<string, Entity>>;
};

/** Attributes of any encoding: amounts as integers or as decimal text. */
type Members = Readonly<Record<string, unknown>>;

/** Places of collections in attributes: the attribute itself, or a member of it. */
const COLLECTIONS: readonly (readonly [
  attribute: string,
  place: { readonly kind: HoldingKind; readonly member?: string },
])[] = [
  ["tokens", { kind: "tokens" }],
  ["ipfs", { kind: "ipfs", member: "hashes" }],
  ["htlc", { kind: "locks", member: "locks" }],
  ["business", { kind: "bridgechains", member: "bridgechains" }],
  ["entities", { kind: "entities" }],
];

/** Replaces each collection, or omits it if the result is undefined. Members keep their order. */
function mapCollections(
  attributes: Members,
  map: (kind: HoldingKind, collection: unknown) => unknown,
): Members {
  let all = attributes;
  for (const [name, { kind, member }] of COLLECTIONS) {
    const attribute = all[name];
    if (attribute === undefined) continue;
    const replace = (collection: unknown) => (collection === undefined ? undefined : map(kind, collection));
    const members = attribute as Members;
    const value =
      member === undefined ? replace(attribute) : defined({ ...members, [member]: replace(members[member]) });
    // A member that is assigned again keeps its position.
    all = defined({ ...all, [name]: value });
  }
  return all;
}

/** A record in any encoding. */
export type LinkedHolding = { readonly next?: string | null; readonly value: unknown };

/**
 * Returns the attributes with each collection as a map in the order of acquisition, as responses show them.
 *
 * @param find returns a record of the wallet
 * @param maxSize larger collections are omitted
 * @throws {Error} if a record is missing
 */
export const expandAttributes = (
  attributes: Members,
  find: (kind: HoldingKind, id: string) => LinkedHolding | undefined,
  maxSize = Number.POSITIVE_INFINITY,
): Members =>
  mapCollections(attributes, (kind, collection) => {
    const { size, first } = collection as Collection;
    if (size > maxSize) return undefined;
    const entries: [string, unknown][] = [];
    for (let id: string | null = first ?? null; id !== null; ) {
      const { value, next }: LinkedHolding = present(find(kind, id), `the holding ${kind}/${id}`);
      entries.push([id, value]);
      id = next ?? null;
    }
    return Object.fromEntries(entries);
  });

/** A row of a wallet; `value` is JSON. */
export type HoldingRow = {
  readonly kind: HoldingKind;
  readonly id: string;
  readonly next: string | null;
  readonly value: string;
};

/** Only attributes with a collection contain this text, apart from texts of transactions. */
export const hasCollections = (attributes: string): boolean => attributes.includes('"size":');

/** Returns the number of holdings in the collections of attributes, which are JSON. */
export function countHoldings(attributes: string): number {
  let count = 0;
  mapCollections(JSON.parse(attributes), (_kind, collection) => {
    count += (collection as Collection).size;
  });
  return count;
}

/**
 * Returns the attributes of a wallet as responses show them.
 *
 * @param attributes JSON with collections
 * @param onRow called for each row when it is read, and when it is shown: an exception ends the work
 */
export function shownText(
  attributes: string,
  rows: Iterable<HoldingRow>,
  onRow: () => void = () => {},
): string {
  const found = new Map<string, HoldingRow>();
  for (const row of rows) {
    found.set(`${row.kind}/${row.id}`, row);
    onRow();
  }
  return JSON.stringify(
    expandAttributes(JSON.parse(attributes), (kind, id): LinkedHolding | undefined => {
      onRow();
      const row = found.get(`${kind}/${id}`);
      return row && { next: row.next, value: JSON.parse(row.value) };
    }),
  );
}

/** Reverses `expandAttributes`: returns the attributes with collections, and the records by kind and id. */
export function collapseAttributes(attributes: Members): {
  readonly attributes: Attributes;
  readonly holdings: readonly {
    readonly kind: HoldingKind;
    readonly id: string;
    readonly holding: Holding;
  }[];
} {
  const holdings: { kind: HoldingKind; id: string; holding: Holding }[] = [];
  const collapsed = mapCollections(attributes, (kind, map) => {
    const entries = Object.entries(map as Record<string, Holding["value"]>);
    const ids = entries.map(([id]) => id);
    for (const [index, [id, value]] of entries.entries()) {
      const [previous, next] = [ids[index - 1], ids[index + 1]];
      const links = { ...(previous !== undefined && { previous }), ...(next !== undefined && { next }) };
      holdings.push({ kind, id, holding: { ...links, value } });
      if (kind !== "bridgechains") continue;
      const { name } = (value as Bridgechain).bridgechainAsset;
      holdings.push({ kind: "bridgechainNames", id: name.toLowerCase(), holding: { value: id } });
    }
    return collectionOf(kind, entries);
  });
  return { attributes: collapsed as Attributes, holdings };
}

function collectionOf(
  kind: HoldingKind,
  entries: readonly (readonly [id: string, value: unknown])[],
): Collection {
  const [first, last] = [entries[0]?.[0], entries.at(-1)?.[0]];
  const ends = first === undefined || last === undefined ? {} : { first, last };
  if (kind !== "bridgechains") return { size: entries.length, ...ends };
  const active = entries.filter(([, value]) => !(value as Bridgechain).resigned).length;
  return { size: entries.length, ...ends, active };
}
