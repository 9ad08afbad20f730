/** Responses that are ready in the event-loop tick in which their deadline passes. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import { fastify } from "fastify";
import { expect, test } from "vitest";
import { addDeadlines } from "../../src/http/connections/bounds.ts";
import type { Server } from "../../src/http/core/app.ts";
import { addBatches } from "../../src/http/server/sending.ts";

const DEADLINE_MS = 200;

function blockFor(ms: number): void {
  for (const startMs = performance.now(); performance.now() - startMs < ms; );
}

test("Late responses are dropped, and the process continues.", async () => {
  const app: Server = fastify().withTypeProvider<TypeBoxTypeProvider>();
  addDeadlines(app, DEADLINE_MS);
  addBatches(app, 60_000);
  app.setErrorHandler(async (_error, _request, reply) => reply.code(503).send({ status: "late" }));
  // After the block, two timers are due: the check of deadlines, which was to run first, and the response.
  app.get("/", async () => {
    const ready = new Promise((resolve) => {
      setTimeout(() => {
        setTimeout(resolve, DEADLINE_MS / 2);
        blockFor(2 * DEADLINE_MS);
      }, DEADLINE_MS / 4);
    });
    await ready;
    return { data: 1 };
  });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  for (let count = 0; count < 3; count++) expect((await fetch(url)).status).toBe(503);
  // An exception of the next tick would still be noticed.
  await sleep(100);
  await app.close();
});
