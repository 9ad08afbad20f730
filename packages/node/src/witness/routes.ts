/** The checkpoint that a witness signed, in the form in which nodes show theirs (facts.md 4 and 12). */
import type { FastifyPluginAsync } from "fastify";
import type { WitnessState } from "./state-file.ts";

const options = { schema: { hide: true } };

export const createWitnessRoutes =
  (signed: () => WitnessState | undefined, verifierKey: string): FastifyPluginAsync =>
  async (app) => {
    for (const prefix of ["", "/api", "/api/v2"]) {
      app.get(`${prefix}/facts/checkpoint`, options, async (request, reply) => {
        const state = signed();
        if (!state) {
          reply.code(404);
          return { statusCode: 404, error: "Not Found", message: "Nothing has been signed yet" };
        }
        if (state.contradictedBy) {
          reply.code(409);
          const message = "Nodes contradict the tree that this witness signed";
          const { note, contradictedBy } = state;
          return { statusCode: 409, error: "Conflict", message, note, contradictedBy };
        }
        const { size, root, height, note } = state;
        reply.header("vary", "accept");
        if (request.headers.accept?.includes("json"))
          return { data: { size, root, height, note, verifierKey } };
        return reply.type("text/plain; charset=utf-8").send(note);
      });
    }
  };
