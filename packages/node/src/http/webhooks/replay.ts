/** Endpoints of replays, beyond the interface of the old network (webhooks.md 10 point 5). */
import type { FastifyInstance } from "fastify";
import type { Webhooks } from "../../webhooks/webhooks.ts";
import { answer, readBody, showReplay } from "./answers.ts";

type WithId = { Params: { id: string } };

export function addReplayRoutes(app: FastifyInstance, { replays }: Pick<Webhooks, "replays">): void {
  app.post<WithId>("/webhooks/:id/replay", async ({ params, body }, reply) => {
    const data = showReplay(await answer(() => replays.start(params.id, readBody(body))));
    reply.code(202);
    return { data };
  });

  app.get<WithId>("/webhooks/:id/replay", ({ params }) =>
    answer(async () => ({ data: showReplay(await replays.find(params.id)) })),
  );

  app.delete<WithId>("/webhooks/:id/replay", ({ params }) =>
    answer(async () => {
      await replays.cancel(params.id);
      return {};
    }),
  );
}
