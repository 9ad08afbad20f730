/** A chain of test/vectors/state in a database file, and its mirror in PostgreSQL. */
import { createNetwork, type Network } from "@uniknode/protocol";
import type { Postgres } from "../../src/postgres/connection.ts";
import { blocksOf, type OpenChain, openChain, readChain, temporaryFolder } from "../chain/fixtures.ts";
import { type BuiltMirror, buildMirror } from "./build.ts";

export type MirroredChain = {
  readonly postgres: Postgres;
  readonly node: OpenChain;
  readonly network: Network;
  readonly built: BuiltMirror;
  /** Closes the connection to PostgreSQL, too. */
  close(): Promise<void>;
};

/** Builds a mirror of a whole chain, without its facts. */
export async function mirrorChain(name: string, postgres: Postgres): Promise<MirroredChain> {
  const folder = temporaryFolder();
  const content = readChain(name);
  const path = `${folder.path}/node.sqlite`;
  const node = openChain(content, path, { feedBlocks: 10_000 });
  await node.chain.accept(blocksOf(content));
  const network = createNetwork(content.network);
  const built = await buildMirror(postgres, path, network);
  return {
    ...{ postgres, node, network, built },
    async close() {
      built.close();
      await postgres.close();
      await node.close();
      folder.remove();
    },
  };
}
