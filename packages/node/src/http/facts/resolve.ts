/** Resolution of uniks with proofs (docs/spec/facts.md 11). */
import type { FastifyPluginAsync } from "fastify";
import type { FactReader, Resolution } from "../../facts/reader.ts";
import { DEFAULT_FROM } from "../../facts/uniks/reader.ts";
import { Type } from "../../platform/json/schema.ts";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import { blockId, count } from "../core/values.ts";
import { described, single } from "../documentation/route.ts";
import { digests, hex64, query } from "../requests/parameters.ts";
import { Checkpoint, type CheckpointReader, hash, hexOf, proof } from "./checkpoint.ts";

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

const siblings = Type.Array(nullable(hash), {
  description: "Nodes beside the path, from the root down; null: empty.",
});

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

const described409 = () => {
  const { response, ...route } = described(
    "Uniks",
    "Returns a unik after the last final round, or its absence, and a page of its properties, with the proof that a signed checkpoint contains them: for `verifyResolution` of @uniknode/client/proofs.",
    single(UnikResolution),
  );
  const unavailable = Type.Object({}, { description: "No round of this chain is final yet." });
  return { ...route, response: { ...response, 409: unavailable } };
};

/** Creates the plugin for each prefix. */
export const createResolveRoute =
  (facts: Pick<FactReader, "resolution">, checkpoint: CheckpointReader): FastifyPluginAsync =>
  async (scope) => {
    const app = scope as Server;
    app.get(
      "/uniks/:id/resolve",
      {
        config: { invalidStatus: 400 },
        schema: {
          ...described409(),
          params: Type.Object({ id: hex64 }),
          querystring: query({ from: Type.Optional(digests) }),
        },
      },
      async ({ params, query: { from } }) => {
        const id = params.id.toLowerCase();
        const resolution = await facts.resolution(id, from?.toLowerCase().split(",") ?? DEFAULT_FROM);
        if (!resolution) throw new HttpError("RESOLUTION_UNAVAILABLE", "No round of this chain is final yet");
        return { data: resolutionData(id, resolution, checkpoint) };
      },
    );
  };

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
