/** Data folder with a recorded chain, and the means to work on it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Block, createNetwork, genesisBlockFromJson, type Network } from "@uniknode/protocol";
import { Growth } from "../../src/facts/growth.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { MetaStore } from "../../src/store/node/meta.ts";
import { BatchVerifier, type Verifier } from "../../src/verification/verifier.ts";
import { blocksOf, type Content, LATE, openChain, readChain, temporaryFolder } from "../chain/fixtures.ts";

export type Archived = {
  readonly content: Content;
  readonly height: number;
  /** Empty folder for everything that a test creates. */
  readonly folder: string;
  /** Data folder with the complete chain. */
  readonly data: string;
  readonly deps: {
    readonly network: Network;
    readonly genesis: Block;
    readonly verifier: Verifier;
    readonly nowMs: () => number;
    readonly onProgress: () => void;
  };
  readonly remove: () => void;
};

export const WEBHOOK_TOKEN = "the token that no snapshot may hold";

export async function archiveFixture(name: string): Promise<Archived> {
  const content = readChain(name);
  const { path: folder, remove } = temporaryFolder();
  const data = join(folder, "data");
  mkdirSync(data);
  const path = join(data, "node.sqlite");
  const { chain, database, close } = openChain(content, path, { recordedNames: new Set(["block.applied"]) });
  await chain.accept(blocksOf(content));
  new MetaStore(database).write("webhookToken", WEBHOOK_TOKEN);
  const { height } = chain.head();
  const network = createNetwork(content.network);
  const growth = new Growth({ database, network, onTruncated: () => {} });
  while (growth.step(Number.POSITIVE_INFINITY));
  await close();
  const genesis = genesisBlockFromJson(content.genesis, network);
  const verifier = new BatchVerifier({ threads: 0 });
  const deps = { network, genesis, verifier, nowMs: () => LATE, onProgress: () => {} };
  return { content, height, folder, data, deps, remove };
}

/** Runs a statement on the database of a data folder. */
export function alter(data: string, sql: string): void {
  const database = openDatabase(join(data, "node.sqlite"));
  database.execute(sql);
  database.close();
}
