/** Endpoints of replays, beyond the interface of the old network (webhooks.md 10 point 5). */
import type { FastifyInstance } from "fastify";
import type { WebhookRequests } from "../../webhooks/requests.ts";
import { readBody, showReplay, withHttpErrors } from "./responses.ts";

type WithId = { Params: { id: string } };

export function addReplayRoutes(app: FastifyInstance, { replays }: Pick<WebhookRequests, "replays">): void {
  app.post<WithId>("/webhooks/:id/replay", async ({ params, body }, reply) => {
    const data = showReplay(await withHttpErrors(() => replays.start(params.id, readBody(body))));
    reply.code(202);
    return { data };
  });

  app.get<WithId>("/webhooks/:id/replay", ({ params }) =>
    withHttpErrors(async () => ({ data: showReplay(await replays.find(params.id)) })),
  );

  app.delete<WithId>("/webhooks/:id/replay", ({ params }) =>
    withHttpErrors(async () => {
      await replays.cancel(params.id);
      return {};
    }),
  );
}
