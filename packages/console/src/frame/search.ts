/** Finds what a text identifies, by lists: an unknown id is an empty list, and no error. */
import type { Client } from "@uniknode/client";
import { countText, shortened } from "../components/format.ts";
import { hrefOf } from "../components/identifier.tsx";
import type { Top } from "../head/chain.ts";
import { type Identified, identify } from "./search-kinds.ts";

export { Suggestions } from "./suggestions.tsx";

export type Found = { readonly href: string; readonly text: string; readonly kind: string };

const MAX_NAMES = 6;

/**
 * @param top newest blocks, among which the beginning of an id is enough
 * @throws {ApiError}
 */
export async function search(api: Client, top: Top, input: string): Promise<readonly Found[]> {
  const found = await Promise.all(identify(input).map((identified) => find(api, top, identified)));
  return found.flat();
}

const RECENT = "uniknode-recent";
const MAX_RECENT = 8;

/** What was opened from the search, newest first; kept until the tab is closed. */
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
    // Browsers may forbid it: nothing is remembered then.
  }
}

/** Whether an entry of the storage, which others can write, is one of ours. */
const isFound = (entry: unknown): entry is Found => {
  const { href, text, kind } = Object(entry) as Partial<Found>;
  return typeof text === "string" && typeof kind === "string" && /^\/console\//.test(href ?? "");
};

async function find(api: Client, top: Top, identified: Identified): Promise<readonly Found[]> {
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
    case "prefix":
      return findPrefix(api, top, identified.prefix);
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
    case "name": {
      const { data } = await api.delegates.list({ username: identified.name }).page({ limit: MAX_NAMES });
      return data.map(({ username, unikname }) => ({
        href: hrefOf.delegate(username),
        text: unikname === username ? shortened(username) : unikname,
        kind: "delegate",
      }));
    }
  }
}

const MAX_PREFIXED = 5;
/** Transactions among which the beginning of an id is enough, of each list. */
const NEWEST = 100;

/** Among the newest: the API finds whole ids alone. */
async function findPrefix(api: Client, top: Top, prefix: string): Promise<readonly Found[]> {
  const newest = { limit: NEWEST };
  const [{ data: confirmed }, { data: pending }] = await Promise.all([
    api.transactions.list().page(newest),
    api.transactions.unconfirmed().page(newest),
  ]);
  const begins = ({ id }: { readonly id: string }) => id.startsWith(prefix);
  return [
    ...top.filter(begins).map(({ id, height }) => ({
      href: hrefOf.block(id),
      text: `Block ${countText(height)} · ${shortened(id)}`,
      kind: "block",
    })),
    ...[...pending, ...confirmed].filter(begins).map(({ id }) => ({
      href: hrefOf.transaction(id),
      text: shortened(id),
      kind: "transaction",
    })),
  ].slice(0, MAX_PREFIXED);
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
