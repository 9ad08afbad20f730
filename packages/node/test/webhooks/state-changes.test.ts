import { pino } from "pino";
import { expect, test } from "vitest";
import {
  always,
  blockApplied,
  createService,
  type ServiceOptions,
} from "../../test-support/webhooks/support.ts";

/** Log lines at info and above, without those of the registration. */
function logged(options: ServiceOptions) {
  const lines: { webhook: number; msg: string }[] = [];
  const logger = pino({ level: "info", base: null }, { write: (line) => void lines.push(JSON.parse(line)) });
  const service = createService({ ...options, logger });
  const create = async (body: object = always()) => {
    const webhook = await service.webhooks.register.create(body);
    lines.length = 0;
    return webhook;
  };
  return { ...service, create, lines };
}

test("A target that keeps failing logs one line, and so does its recovery.", async () => {
  let status = 503;
  const { create, emit, clock, lines } = logged({ reply: () => status });
  const { id } = await create();
  for (let height = 1; height <= 60; height++) await emit(blockApplied(height));
  expect(lines).toMatchObject([{ webhook: id, msg: "webhook target keeps failing; only probing it" }]);
  status = 200;
  await clock.advance(600_000);
  expect(lines.slice(1)).toMatchObject([{ webhook: id, msg: "webhook target works again" }]);
});

test("A suspension logs one line, and so does its end.", async () => {
  let status = 410;
  const { webhooks, create, emit, lines } = logged({ reply: () => status });
  const { id } = await create();
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
    "webhook resumed: its target responded to a ping",
    "webhook suspended until it is updated or a ping succeeds",
    "webhook resumed by an update",
  ]);
});

test("Each change by a client logs one line, unless it changes nothing.", async () => {
  const { webhooks, lines } = logged({});
  const { register } = webhooks;
  await register.create(always());
  await register.update("1", { target: "https://elsewhere.example/" });
  await register.update("1", { enabled: "false" });
  await register.update("1", { enabled: "false" });
  await register.update("1", { enabled: "true" });
  await register.remove("1");
  await expect(register.remove("1")).rejects.toThrow();
  expect(lines.map(({ webhook, msg }) => [webhook, msg])).toEqual([
    [1, "webhook registered"],
    [1, "webhook disabled"],
    [1, "webhook enabled"],
    [1, "webhook removed"],
  ]);
});

test("Deliveries log no line.", async () => {
  const { create, emit, clock, lines } = logged({
    reply: ({ message }) => (Number(message.height) % 2 ? 200 : 500),
  });
  await create();
  for (let height = 1; height <= 10; height++) await emit(blockApplied(height));
  await clock.advance(10_000);
  expect(lines).toEqual([]);
});
