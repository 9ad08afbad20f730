/** Ping that the creator of a webhook can request (webhooks.md 10 point 9). */
import { expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { always, blockApplied, createService, settle } from "../../test-support/webhooks/support.ts";
import { serve, TOKEN } from "./serve.ts";

const events = (calls: readonly { message: Record<string, unknown> }[]) =>
  calls.map(({ message }) => message.event);

test("The creation ping is sent before all deliveries, only on request.", async () => {
  const { ask, emit, calls } = await serve();
  const { status } = await ask("POST", "/api/webhooks", { body: { ...always(), ping: "true" } });
  expect(status).toBe(201);
  await ask("POST", "/api/webhooks", { body: always() });
  await emit(blockApplied(1));
  expect(events(calls).filter((event) => event === "ping")).toEqual(["ping"]);
  expect(present(calls[0]).message).toMatchObject({ event: "ping", webhookId: 1, data: {} });
  expect(present(calls.at(-1)).message).toMatchObject({ event: "block.applied", sequence: 1 });
});

test("The creation ping is retried until the receiver is reachable, also after a restart.", async () => {
  const first = createService({ reply: () => 503 });
  await first.webhooks.register.create({ ...always(), ping: true });
  await settle();
  expect(events(first.calls)).toEqual(["ping"]);
  const { path } = present(
    first.database.prepare<{ path: string }>("SELECT file AS path FROM pragma_database_list").get(),
  );
  await first.close();

  const second = createService({ path, clock: first.clock });
  second.webhooks.notify();
  await second.clock.advance(10_000);
  expect(events(second.calls)).toEqual(["ping"]);
  expect(present(second.calls[0]).body).toBe(present(first.calls[0]).body);
  expect(second.log(1, 10)).toMatchObject([{ event: "ping", state: "delivered" }]);
});

test("The creation ping is not sent for a disabled webhook.", async () => {
  const { webhooks, calls, log } = createService();
  await webhooks.register.create({ ...always(), enabled: false, ping: true });
  await settle();
  expect(calls).toEqual([]);
  expect(log(1, 10)).toEqual([]);
});

test("The creation ping is neither an event nor a member of a webhook, and cannot be updated.", async () => {
  const { ask } = await serve();
  const created = await ask("POST", "/api/webhooks", { body: { ...always(), ping: true } });
  expect(created.body.data).not.toHaveProperty("ping");
  expect((await ask("PUT", "/api/webhooks/1", { body: { ping: true } })).status).toBe(422);
  expect((await ask("POST", "/api/webhooks", { body: { ...always(), ping: 1 } })).status).toBe(422);
  expect((await ask("POST", "/api/webhooks", { body: always("ping") })).status).toBe(422);
  const tried = await ask("POST", "/api/webhooks/test", {
    body: { ...always(), ping: true },
    headers: { authorization: TOKEN, "content-type": "application/json" },
  });
  expect(tried.status).toBe(200);
});
