/** Resolution of uniks with proofs (docs/spec/facts.md 11). */
import type { FastifyPluginAsync } from "fastify";
import type { FactReader, Resolution } from "../../facts/reader.ts";
import { Type } from "../../platform/json/schema.ts";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import { described, single } from "../documentation/route.ts";
import { hex64, query } from "../requests/parameters.ts";
import { blockId, count } from "../responses/values.ts";
import { Checkpoint, type CheckpointReader, hash, hexOf, proof } from "./checkpoint.ts";

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

const UnikResolution = Type.Object(
  {
    id: hash,
    unik: nullable(
      Type.Object({ owner: Type.String(), properties: Type.Record(Type.String(), Type.String()) }),
    ),
    path: Type.Object({
      siblings: Type.Array(nullable(hash), {
        description: "Nodes beside the path, from the root down; null: empty.",
      }),
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
    "Returns a unik after the last final round, or its absence, with the proof that a signed checkpoint contains it: for `verifyResolution` of @uniknode/client/proofs.",
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
        schema: { ...described409(), params: Type.Object({ id: hex64 }), querystring: query({}) },
      },
      async ({ params }) => {
        const id = params.id.toLowerCase();
        const resolution = await facts.resolution(id);
        if (!resolution) throw new HttpError("RESOLUTION_UNAVAILABLE", "No round of this chain is final yet");
        return { data: resolutionData(id, resolution, checkpoint) };
      },
    );
  };

/** Returns the content of a response. */
export function resolutionData(
  id: string,
  { value, path, map, leaf, checkpoint }: Resolution,
  toCheckpoint: CheckpointReader,
) {
  const { height, blockId, round, root, uniks } = map;
  return {
    id,
    unik: value && value.owner !== null ? { owner: value.owner, properties: value.properties } : null,
    path: { siblings: path.siblings, end: path.end ?? null },
    map: { height, blockId, round, root, uniks },
    leaf: { ...leaf, proof: leaf.proof.map(hexOf) },
    checkpoint: toCheckpoint(checkpoint),
  };
}
