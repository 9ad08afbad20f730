/**
 * The tree of final facts (docs/spec/facts.md): signed checkpoints (4), proofs, tiles, and resolution of uniks with
 * proofs (11).
 */

import type { FastifyPluginAsync } from "fastify";
import { type Leaf, leafText } from "../../facts/leaf.ts";
import { type Hash, leafHash } from "../../facts/merkle/proofs.ts";
import { readTilePath, type TilePath } from "../../facts/merkle/tiles.ts";
import type { NoteSigner, Checkpoint as TreeCheckpoint } from "../../facts/note.ts";
import type { FactReader, Resolution } from "../../facts/reader.ts";
import { DEFAULT_FROM } from "../../facts/uniks/reader.ts";
import { type Static, Type } from "../../platform/json/schema.ts";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import { addVary } from "../core/headers.ts";
import { blockId, count } from "../core/values.ts";
import { described, single } from "../documentation/route.ts";
import { digests, hex64, query, uint } from "../requests/parameters.ts";

const hash = Type.String({ pattern: "^[0-9a-f]{64}$" });
export const proof = Type.Array(hash, { description: "Hashes from the leaves up (RFC 6962)." });

const Checkpoint = Type.Object(
  {
    size: Type.Integer({ minimum: 0, description: "Number of leaves of the tree." }),
    root: hash,
    height: Type.Integer({
      minimum: 0,
      description: "Height of the last block in the tree; 0 if the tree is empty.",
    }),
    id: Type.Union([blockId, Type.Null()], { description: "Id of this block; null if the tree is empty." }),
    note: Type.String({ description: "The checkpoint, signed by the node (C2SP tlog-checkpoint)." }),
    verifierKey: Type.String({ description: "Key that verifies the note (C2SP signed-note)." }),
  },
  { title: "FactsCheckpoint" },
);

type CheckpointReader = (checkpoint: TreeCheckpoint) => Static<typeof Checkpoint>;

/** Signs checkpoints; caches the note, which is the same for the same tree. */
export function createCheckpointReader(signer: NoteSigner): CheckpointReader {
  let last: { readonly root: Hash; readonly note: string } | undefined;
  return (checkpoint) => {
    const { size, root, block } = checkpoint;
    if (!last || Buffer.compare(last.root, root) !== 0) last = { root, note: signer.sign(checkpoint) };
    return {
      size,
      root: hexOf(root),
      height: block?.height ?? 0,
      id: block?.id ?? null,
      note: last.note,
      verifierKey: signer.verifierKey,
    };
  };
}

const hexOf = (digest: Hash): string => Buffer.from(digest).toString("hex");

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

const siblings = Type.Unsafe<readonly (string | null)[]>(
  Type.Array(nullable(hash), { description: "Nodes beside the path, from the root down; null: empty." }),
);

const UnikResolution = Type.Object(
  {
    id: hash,
    unik: nullable(
      Type.Object({
        owner: Type.String(),
        properties: { ...hash, description: "Root of the map of its properties." },
      }),
    ),
    pages: Type.Array(
      Type.Object({
        from: hash,
        siblings,
        properties: Type.Record(Type.String(), Type.String()),
      }),
      {
        description:
          "Each has all properties whose digests share as many first bits with `from` as it has siblings.",
      },
    ),
    path: Type.Object({
      siblings,
      end: nullable(Type.Object({ key: hash, value: hash })),
    }),
    map: Type.Object({
      height: Type.Integer({ minimum: 1, description: "Last block of the round." }),
      blockId,
      round: count,
      root: hash,
      uniks: count,
    }),
    leaf: Type.Object({
      index: count,
      indexInBlock: count,
      proof,
    }),
    checkpoint: Checkpoint,
  },
  { title: "UnikResolution" },
);

function addResolution(
  app: Server,
  facts: Pick<FactReader, "resolution">,
  checkpoint: CheckpointReader,
): void {
  app.get(
    "/uniks/:id/resolve",
    {
      config: { invalidStatus: 400 },
      schema: described(
        "Uniks",
        "Returns a unik after the last final round, or its absence, and a page of its properties, with the proof that a signed checkpoint contains them: for `verifyResolution` of @uniknode/client/proofs.",
        single(UnikResolution),
        { params: Type.Object({ id: hex64 }), querystring: query({ from: Type.Optional(digests) }) },
        { 409: "No round of this chain is final yet." },
      ),
    },
    async ({ params, query: { from } }) => {
      const id = params.id.toLowerCase();
      const resolution = await facts.resolution(id, from?.toLowerCase().split(",") ?? DEFAULT_FROM);
      if (!resolution) throw new HttpError("RESOLUTION_UNAVAILABLE", "No round of this chain is final yet");
      return { data: resolutionData(id, resolution, checkpoint) };
    },
  );
}

/** Returns the content of a response. */
export function resolutionData(
  id: string,
  { unik, pages, path, map, leaf, checkpoint }: Resolution,
  toCheckpoint: CheckpointReader,
) {
  const { height, blockId, round, root, uniks } = map;
  return {
    id,
    unik: unik ?? null,
    pages: pages.map(({ properties, ...page }) => ({
      ...page,
      properties: Object.fromEntries(properties.map(({ key, value }) => [key, value])),
    })),
    path: { siblings: path.siblings, end: path.end ?? null },
    map: { height, blockId, round, root, uniks },
    leaf: { ...leaf, proof: leaf.proof.map(hexOf) },
    checkpoint: toCheckpoint(checkpoint),
  };
}

/** Caches for a day: a whole tile changes only if the network reverts final blocks. */
const WHOLE_TILE_CACHE = "public, max-age=86400";
const WHOLE = 256;

const Proof = Type.Object(
  {
    index: count,
    size: count,
    root: hash,
    leaf: Type.Object({
      height: Type.Integer({ minimum: 1 }),
      index: Type.Integer({ minimum: 0, description: "Index of the fact in its block." }),
      event: Type.String(),
      content: { ...hash, description: "SHA-256 of the canonical content." },
      text: Type.String({ description: "Bytes of the leaf, as hashed." }),
      hash,
    }),
    proof,
  },
  { title: "FactProof" },
);
const Consistency = Type.Object({ from: count, to: count, proof }, { title: "FactsConsistency" });

const SCHEMAS = {
  checkpoint: described(
    "Facts",
    "Returns size and root of the Merkle tree of final facts; without `Accept: application/json`, only the signed note.",
    single(Checkpoint),
    { querystring: query({}) },
  ),
  proof: described("Facts", "Returns a leaf of the tree, with its inclusion proof.", single(Proof), {
    params: Type.Object({ index: uint }),
    querystring: query({ size: Type.Optional(uint) }),
  }),
  consistency: described(
    "Facts",
    "Returns the proof that one tree is a prefix of another.",
    single(Consistency),
    { querystring: Type.Object({ from: uint, to: uint }, { additionalProperties: false }) },
  ),
  // Static files, whose paths clients know from the specification of tiles.
  tile: { hide: true },
};

const unknown = (what: string) => new HttpError("FACT_UNKNOWN", what);

/** Creates the plugin for each prefix. */
export function createFactRoutes(facts: FactReader, signer: NoteSigner): FastifyPluginAsync {
  const checkpoint = createCheckpointReader(signer);
  return async (scope) => {
    const app = scope as Server;

    app.get("/facts/checkpoint", { schema: SCHEMAS.checkpoint }, async (request, reply) => {
      const data = checkpoint(await facts.checkpoint());
      addVary(reply, "accept");
      // Clients of tiles send no header, or any: only others ask for JSON by name.
      if (request.headers.accept?.includes("json")) return { data };
      return reply.type("text/plain; charset=utf-8").send(data.note as never);
    });

    app.get("/facts/:index/proof", { schema: SCHEMAS.proof }, async ({ params, query: { size } }) => {
      const index = Number(params.index);
      const found = await facts.inclusion(index, size === undefined ? undefined : Number(size));
      if (!found) throw unknown("No fact has this index, or the tree never had this size");
      const { leaf, proof, root } = found;
      return {
        data: {
          index,
          size: found.size,
          root: hexOf(root),
          leaf: { ...leaf, text: leafText(leaf), hash: hexOf(leafHash(leafText(leaf))) },
          proof: proof.map(hexOf),
        },
      };
    });

    app.get("/facts/consistency", { schema: SCHEMAS.consistency }, async ({ query: { from, to } }) => {
      const proof = await facts.consistency(Number(from), Number(to));
      if (!proof) throw unknown('The tree never had both sizes, or "from" is greater than "to"');
      return { data: { from: Number(from), to: Number(to), proof: proof.map(hexOf) } };
    });

    addResolution(app, facts, checkpoint);

    scope.get("/facts/tile/*", { schema: SCHEMAS.tile }, async ({ params }, reply) => {
      const path = readTilePath((params as { readonly "*": string })["*"]);
      const bytes = path && (await bytesOf(facts, path));
      if (!bytes) throw unknown("The tile does not exist");
      if (path.width === WHOLE) reply.header("cache-control", WHOLE_TILE_CACHE);
      return reply.type("application/octet-stream").send(Buffer.from(bytes));
    });
  };
}

async function bytesOf(
  facts: FactReader,
  { level, number, width }: TilePath,
): Promise<Uint8Array | undefined> {
  if (level !== "entries") return facts.tile(level, number, width);
  const leaves = await facts.leaves(number * WHOLE, width);
  return leaves && Buffer.concat(leaves.map(entryOf));
}

function entryOf(leaf: Leaf): Uint8Array {
  const text = Buffer.from(leafText(leaf));
  return Buffer.concat([Buffer.of(text.length >> 8, text.length & 255), text]);
}
