/** Responses that are ready in one event-loop tick. */
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import { fastify } from "fastify";
import { expect, test } from "vitest";
import type { Server } from "../../src/http/core/app.ts";
import { addBatches } from "../../src/http/server/sending.ts";

/** Sends several requests at once; returns, in order, when a response was created and when it was sent. */
async function askedTogether(requests: number, maxWaitMs: number, make: () => void): Promise<string[]> {
  const happened: string[] = [];
  const app: Server = fastify().withTypeProvider<TypeBoxTypeProvider>();
  addBatches(app, maxWaitMs);
  app.get("/", (_request, reply) => {
    make();
    happened.push("made");
    reply.raw.once("finish", () => happened.push("left"));
    return { data: "text" };
  });
  await app.ready();
  const responses = await Promise.all(Array.from({ length: requests }, () => app.inject("/")));
  for (const { statusCode, body } of responses) expect([statusCode, body]).toEqual([200, '{"data":"text"}']);
  await app.close();
  return happened;
}

/** Longer than a response waits for others. */
function workLong(): void {
  for (const startMs = performance.now(); performance.now() - startMs < 5; );
}

test("Responses that are ready in one event-loop tick are sent together at its end.", async () => {
  const happened = await askedTogether(3, 60_000, () => {});
  expect(happened).toEqual(["made", "made", "made", "left", "left", "left"]);
});

test("Responses that are ready do not wait for slow ones.", async () => {
  const happened = await askedTogether(6, 2, workLong);
  expect(happened.filter((event) => event === "left")).toHaveLength(6);
  expect(happened.indexOf("left")).toBeLessThan(happened.lastIndexOf("made"));
});

test("Waiting connections are accepted before a response is sent.", async () => {
  const app: Server = fastify().withTypeProvider<TypeBoxTypeProvider>();
  addBatches(app, 60_000);
  app.get("/", () => ({ data: "text" }));
  await app.listen({ port: 0, host: "127.0.0.1" });
  let accepted = 0;
  app.server.on("connection", () => accepted++);
  const { port } = app.server.address() as AddressInfo;
  const clients = Array.from({ length: 20 }, () => connect(port, "127.0.0.1"));
  for (const client of clients) client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  const acceptedBefore = clients.map(async (client) => {
    await once(client, "data");
    return accepted;
  });
  expect(new Set(await Promise.all(acceptedBefore))).toEqual(new Set([20]));
  for (const client of clients) client.destroy();
  await app.close();
});
