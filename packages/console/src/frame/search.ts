/** Finds what a text identifies, by lists: an unknown id is an empty list, and no error. */
import type { Client } from "@uniknode/client";
import { countText, shortened } from "../components/format.ts";
import { hrefOf } from "../components/identifier.tsx";
import { type Identified, identify } from "./search-kinds.ts";

export type Found = { readonly href: string; readonly text: string; readonly kind: string };

const MAX_NAMES = 6;

/** @throws {ApiError} */
export async function search(api: Client, input: string): Promise<readonly Found[]> {
  const found = await Promise.all(identify(input).map((identified) => find(api, identified)));
  return found.flat();
}

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
