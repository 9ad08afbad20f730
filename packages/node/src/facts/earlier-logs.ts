/**
 * Earlier versions of the tree of facts, whose roots are in snapshots and in databases of earlier versions, and verify their blocks. The
 * leaves of version 1 did not include roots of the map of uniks. The map of version 2 had all properties of a unik in one value.
 */
import { tokenEffect } from "@uniknode/ledger";
import {
  addressFromPublicKey,
  type Block,
  canonicalJson,
  createRounds,
  type Network,
} from "@uniknode/protocol";
import { createPastFacts } from "../event-log/past-facts.ts";
import { present } from "../platform/present.ts";
import { createBlockStore } from "../store/chain/blocks.ts";
import { createFactLookups } from "../store/chain/fact-lookups.ts";
import type { Database } from "../store/engine/database.ts";
import { endsRound, leafText, leavesOf, type TreeFact, withUniksRoot } from "./leaf.ts";
import { EMPTY_EDGE, edgeRoot, extendEdge } from "./merkle/edge.ts";
import { hashLeaves } from "./merkle/hashes.ts";
import { changeLeaves, EMPTY_MAP, keyOf, textDigest } from "./uniks/map.ts";
import type { Page } from "./uniks/page.ts";
import type { MapRoot } from "./uniks/roots.ts";

/** Size and root of a tree; the root is hexadecimal. */
export type LogRoot = { readonly size: number; readonly root: string };

const BATCH_BLOCKS = 500;

/** Computes the root of a version up to a height, or up to the head; yields the height between two batches of blocks. */
export function* earlierLogRoot(
  database: Database,
  network: Network,
  { height, version }: { readonly height: number; readonly version: 1 | 2 },
): Generator<number, LogRoot> {
  const blocks = createBlockStore(database);
  const pastFacts = createPastFacts(createFactLookups(database), network);
  const { roundAt } = createRounds(network);
  const map = createSecondMap(database, network);
  const end = Math.min(height, blocks.head()?.height ?? 0);

  function factsAt(at: number): { block: Block; facts: readonly TreeFact[] } {
    const block = present(blocks.block(at), `block ${at}`);
    const facts = pastFacts.of(block);
    if (version === 1) return { block, facts };
    map.add(block);
    if (!endsRound(at, roundAt)) return { block, facts };
    return {
      block,
      facts: withUniksRoot(facts, { name: "uniks.root", round: roundAt(at).round, ...map.root() }),
    };
  }

  let edge = EMPTY_EDGE;
  for (let first = 1; first <= end; first += BATCH_BLOCKS) {
    const last = Math.min(first + BATCH_BLOCKS - 1, end);
    const texts: string[] = [];
    for (let at = first; at <= last; at++) {
      const { block, facts } = factsAt(at);
      texts.push(...leavesOf(block.header, facts, network).map(leafText));
    }
    edge = extendEdge(edge, hashLeaves(texts));
    if (last < end) yield last;
  }
  return { size: edge.size, root: Buffer.from(edgeRoot(edge)).toString("hex") };
}

type Unik = { owner: string | null; readonly properties: Map<string, string> };

/** The map of uniks of version 2, in memory. */
function createSecondMap(database: Database, network: Network) {
  const username = database.prepare<{ username: string | null }>(
    "SELECT username FROM wallets WHERE public_key = ?",
  );
  const uniks = new Map<string, Unik>();
  const changed = new Set<string>();
  const stored = new Map<string, Page>();
  const pages = {
    read: (path: string) => stored.get(path),
    write: (path: string, page: Page | undefined) =>
      void (page ? stored.set(path, page) : stored.delete(path)),
  };
  let root = EMPTY_MAP;
  const context = {
    addressOf: (publicKey: string) => addressFromPublicKey(publicKey, network.description.pubKeyHash),
    usernameOf: (publicKey: string) => username.get(publicKey)?.username ?? undefined,
    propertyOf: (unik: string, name: string) => uniks.get(unik)?.properties.get(name),
  };

  const digestOf = ({ owner, properties }: Unik) =>
    textDigest(canonicalJson({ owner, properties: Object.fromEntries(properties) }));

  return {
    add({ transactions }: Block): void {
      for (const { data } of transactions) {
        const effect = tokenEffect(data, context);
        if (!effect) continue;
        const unik = uniks.get(effect.tokenId) ?? { owner: null, properties: new Map() };
        uniks.set(effect.tokenId, unik);
        changed.add(effect.tokenId);
        unik.owner = effect.ownerId ?? unik.owner;
        for (const [name, value] of Object.entries(effect.properties)) {
          if (value === null) unik.properties.delete(name);
          else unik.properties.set(name, value);
        }
      }
    },
    root(): MapRoot {
      const leaves = [...changed].flatMap((id) => {
        const unik = uniks.get(id);
        return unik && unik.owner !== null ? [{ key: keyOf(id), value: digestOf(unik), text: "" }] : [];
      });
      changed.clear();
      if (leaves.length > 0) root = changeLeaves(pages, leaves);
      const existing = [...uniks.values()].filter(({ owner }) => owner !== null);
      return { root, uniks: existing.length };
    },
  };
}
