/** Finds the objects that a text identifies. Queries lists, so that an unknown id is an empty list, not an error. */
import type { Client } from "@uniknode/client";
import { countText, shortened } from "../components/format.ts";
import { hrefOf } from "../components/identifier.tsx";
import { destinationsFor } from "./destinations.ts";
import { type Identified, identify } from "./search-kinds.ts";
import type { Found } from "./suggestions.tsx";

export { type Found, Suggestions } from "./suggestions.tsx";

const MAX_NAMES = 6;

export type SearchOptions = {
  readonly text: string;
  /** True if the node has the dev chain page. */
  readonly isDevChain: boolean;
};

/**
 * Returns exact matches, then pages and actions, delegates, and prefix matches.
 *
 * @throws {ApiError}
 */
export async function search(api: Client, { text, isDevChain }: SearchOptions): Promise<readonly Found[]> {
  const identified = identify(text);
  const [others, names, prefixed] = await Promise.all([
    Promise.all(identified.map((one) => find(api, one))),
    findNames(api, identified),
    findPrefix(api, text.trim()),
  ]);
  const found = [...others.flat(), ...destinationsFor(text, isDevChain), ...names, ...prefixed];
  return [...new Map(found.map((one) => [one.href, one])).values()];
}

const RECENT = "uniknode-recent";
const MAX_RECENT = 8;

/** Recently opened results, newest first; stored until the tab is closed. */
export function recent(): readonly Found[] {
  try {
    const kept = JSON.parse(sessionStorage.getItem(RECENT) ?? "[]") as unknown;
    return Array.isArray(kept) ? kept.filter(isFound).slice(0, MAX_RECENT) : [];
  } catch {
    return [];
  }
}

export function remember(found: Found): void {
  const others = recent().filter(({ href }) => href !== found.href);
  try {
    sessionStorage.setItem(RECENT, JSON.stringify([found, ...others].slice(0, MAX_RECENT)));
  } catch {
    // Browsers may forbid storage; nothing is remembered then.
  }
}

/** Returns true if a storage entry is valid; other scripts can write to the storage. */
const isFound = (entry: unknown): entry is Found => {
  const { href, text, kind } = Object(entry) as Partial<Found>;
  return typeof text === "string" && typeof kind === "string" && /^\/console\//.test(href ?? "");
};

async function find(api: Client, identified: Identified): Promise<readonly Found[]> {
  switch (identified.kind) {
    case "height": {
      const { height } = identified;
      const { data } = await api.blocks.list({ height }).page({ limit: 1 });
      return data.map(({ id }) => ({
        href: hrefOf.block(id),
        text: `Block ${countText(height)}`,
        kind: "block",
      }));
    }
    case "hash":
      return findHash(api, identified.hash);
    case "publicKey": {
      const { publicKey } = identified;
      const { data } = await api.wallets.search({ publicKey }).page({ limit: 1 });
      return data.map(({ address }) => ({ href: hrefOf.wallet(address), text: address, kind: "wallet" }));
    }
    case "address": {
      const { address } = identified;
      const { data } = await api.wallets.search({ address }).page({ limit: 1 });
      return data.map(() => ({ href: hrefOf.wallet(address), text: address, kind: "wallet" }));
    }
    default:
      return [];
  }
}

async function findNames(api: Client, identified: readonly Identified[]): Promise<readonly Found[]> {
  const named = identified.find(({ kind }) => kind === "name");
  if (named?.kind !== "name") return [];
  const { data } = await api.delegates.list({ name: named.name }).page({ limit: MAX_NAMES });
  return data.map(({ username, unikname }) => ({
    href: hrefOf.delegate(username),
    text: unikname === username ? shortened(username) : unikname,
    kind: "delegate",
  }));
}

const MAX_PENDING = 100;

/** Finds prefix matches on the chain and in the pool. */
async function findPrefix(api: Client, text: string): Promise<readonly Found[]> {
  if (!/^[0-9A-Za-z]{4,63}$/.test(text)) return [];
  // Ids are lower-case; addresses are mixed-case.
  const prefix = /^[0-9A-Fa-f]+$/.test(text) ? text.toLowerCase() : text;
  const [{ data: identified }, { data: pending }] = await Promise.all([
    api.blockchain.identifiers(prefix),
    api.transactions.unconfirmed().page({ limit: MAX_PENDING }),
  ]);
  return [
    ...pending
      .filter(({ id }) => id.startsWith(prefix))
      .map(({ id }) => ({ href: hrefOf.transaction(id), text: shortened(id), kind: "transaction" })),
    ...identified.map((one) => ({
      href: hrefOf[one.kind](one.id),
      text:
        one.kind === "block" ? `Block ${countText(one.height)} · ${shortened(one.id)}` : shortened(one.id),
      kind: one.kind,
    })),
  ];
}

async function findHash(api: Client, hash: string): Promise<readonly Found[]> {
  const isLong = hash.length === 64;
  const first = { limit: 1 };
  const none = { data: [] as const };
  const [blocks, transactions, pending, uniks] = await Promise.all([
    api.blocks.list({ id: hash }).page(first),
    isLong ? api.transactions.list({ id: hash }).page(first) : none,
    isLong ? api.transactions.unconfirmed().page({ limit: 100 }) : none,
    isLong ? api.uniks.search({ id: hash }).page(first) : none,
  ]);
  const waiting = pending.data.filter(({ id }) => id === hash);
  return [
    ...blocks.data.map(({ id, height }) => ({
      href: hrefOf.block(id),
      text: `Block ${countText(height)}`,
      kind: "block",
    })),
    ...[...transactions.data, ...waiting]
      .slice(0, 1)
      .map(({ id }) => ({ href: hrefOf.transaction(id), text: shortened(id), kind: "transaction" })),
    ...uniks.data.map(({ id, defaultExplicitValue }) => ({
      href: hrefOf.unik(id),
      text: defaultExplicitValue ?? shortened(id),
      kind: "unik",
    })),
  ];
}
