/** A mirror in PostgreSQL of a chain in a database file, written as a mirror writes it. */
import assert from "node:assert";
import type { Network } from "@uniknode/protocol";
import { SqliteFactReader } from "../../src/facts/sqlite/reader.ts";
import { DEFAULT_FEED_OPTIONS, Feed } from "../../src/feed/feed.ts";
import { FeedReader } from "../../src/feed/reader.ts";
import { openStateRows } from "../../src/feed/state-rows.ts";
import { bootstrap } from "../../src/mirror/bootstrap.ts";
import { takeLease } from "../../src/mirror/head.ts";
import type { Postgres } from "../../src/postgres/connection.ts";
import { migrate } from "../../src/postgres/migrations.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { feedLogOf } from "../feed/log.ts";
import { clientOf, type LocalClient } from "./feed-client.ts";

export type BuiltMirror = {
  readonly epoch: number;
  /** The feed of the node. */
  readonly feed: LocalClient;
  close(): void;
};

/**
 * @param path database of the node
 * @param wrap returns the client with which the mirror is built
 */
export async function buildMirror(
  postgres: Postgres,
  path: string,
  network: Network,
  wrap: (client: LocalClient) => LocalClient = (client) => client,
): Promise<BuiltMirror> {
  await migrate(postgres);
  const head = await takeLease(postgres, { nethash: network.description.nethash, owner: "test" });
  assert(head);
  const { epoch } = head;
  const reader = openDatabase(path, { readonly: true });
  const feed = clientOf(
    new Feed(DEFAULT_FEED_OPTIONS, {
      reader: new FeedReader(reader),
      openState: () => openStateRows(path),
      facts: new SqliteFactReader(reader, network),
      ...feedLogOf(reader),
    }),
  );
  await bootstrap(head, {
    ...{ postgres, network, epoch, feed: wrap(feed) },
    signal: new AbortController().signal,
    onProgress: () => {},
  });
  return { epoch, feed, close: reader.close };
}
