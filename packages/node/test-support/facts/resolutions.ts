/** Resolutions of a database as a node would return them. */
import { createPrivateKey } from "node:crypto";
import { createVerifyingClient, type VerifyingClient } from "@uniknode/client/proofs";
import type { Network } from "@uniknode/protocol";
import { logName, NoteSigner } from "../../src/facts/note.ts";
import { SqliteFactReader } from "../../src/facts/sqlite/reader.ts";
import { DEFAULT_FROM } from "../../src/facts/uniks/reader.ts";
import { createCheckpointReader, resolutionData } from "../../src/http/facts/routes.ts";
import type { Database } from "../../src/store/engine/database.ts";
import { CHECKPOINT_KEY } from "./key.ts";

export type Resolutions = ReturnType<typeof createResolutions>;

export function createResolutions(database: Database, network: Network) {
  const reader = new SqliteFactReader(database, network);
  const signer = new NoteSigner(logName(network.description.nethash), createPrivateKey(CHECKPOINT_KEY));
  const toCheckpoint = createCheckpointReader(signer);

  /** Returns the content of a response as its receiver parses it; undefined if there is no root yet. */
  async function resolve(unik: string, from = DEFAULT_FROM) {
    const resolution = await reader.resolution(unik, from);
    return (
      resolution &&
      (JSON.parse(JSON.stringify(resolutionData(unik, resolution, toCheckpoint))) as ReturnType<
        typeof resolutionData
      >)
    );
  }

  return {
    key: signer.verifierKey,
    resolve,
    /** Returns a client of a node with this database; `asked` is called before each request. */
    client(asked: (from: readonly string[]) => void = () => {}): VerifyingClient {
      return createVerifyingClient({
        url: "http://127.0.0.1",
        async fetch(input) {
          const { pathname, searchParams } = new URL(`${input}`);
          const unik = /\/uniks\/([0-9a-f]{64})\/resolve$/.exec(pathname)?.[1] ?? "";
          const from = searchParams.get("from")?.split(",") ?? DEFAULT_FROM;
          asked(from);
          return Response.json({ data: await resolve(unik, from) });
        },
      });
    },
  };
}
