import { pino } from "pino";
import { expect, test } from "vitest";
import { always, blockApplied, createService, type ServiceOptions } from "./support.ts";

/** Lines at info and above. */
function logged(options: ServiceOptions) {
  const lines: { webhook: number; msg: string }[] = [];
  const logger = pino({ level: "info", base: null }, { write: (line) => void lines.push(JSON.parse(line)) });
  return { ...createService({ ...options, logger }), lines };
}

test("a target that keeps failing is one line, and so is its return", async () => {
  let status = 503;
  const { webhooks, emit, clock, lines } = logged({ reply: () => status });
  const { id } = await webhooks.register.create(always());
  for (let height = 1; height <= 60; height++) await emit(blockApplied(height));
  expect(lines).toMatchObject([{ webhook: id, msg: "webhook target keeps failing, and is only probed" }]);
  status = 200;
  await clock.advance(600_000);
  expect(lines.slice(1)).toMatchObject([{ webhook: id, msg: "webhook target answers again" }]);
});

test("a suspension is one line, and so is its end", async () => {
  let status = 410;
  const { webhooks, emit, lines } = logged({ reply: () => status });
  const { id } = await webhooks.register.create(always());
  await emit(blockApplied(1));
  status = 200;
  await webhooks.ping(`${id}`);
  await webhooks.ping(`${id}`);
  status = 410;
  await emit(blockApplied(2));
  await webhooks.register.update(`${id}`, { enabled: "true" });
  await webhooks.register.update(`${id}`, { enabled: "true" });
  expect(lines.map(({ msg }) => msg)).toEqual([
    "webhook suspended until it is updated or a ping succeeds",
    "webhook resumed: its target answered a ping",
    "webhook suspended until it is updated or a ping succeeds",
    "webhook resumed by an update",
  ]);
});

test("deliveries are none", async () => {
  const { webhooks, emit, clock, lines } = logged({
    reply: ({ message }) => (Number(message.height) % 2 ? 200 : 500),
  });
  await webhooks.register.create(always());
  for (let height = 1; height <= 10; height++) await emit(blockApplied(height));
  await clock.advance(10_000);
  expect(lines).toEqual([]);
});
