import { expect, test } from "vitest";
import { always, createService, databasePath } from "../../test-support/webhooks/support.ts";

test("a register of https targets accepts no others", async () => {
  const { register } = createService({ options: { httpsOnly: true } }).webhooks;
  const refusal = { code: "TARGET_REFUSED", message: '"target" must be an https or tls URL on this node' };
  const plain = "http://receiver.example/hook";
  await expect(register.create(always("block.applied", plain))).rejects.toMatchObject(refusal);
  expect((await register.list({ offset: 0, limit: 10 })).totalCount).toBe(0);
  const { id } = await register.create(always("block.applied", "HTTPS://receiver.example/hook"));
  await expect(register.update(`${id}`, { target: plain })).rejects.toMatchObject(refusal);
  await register.update(`${id}`, { enabled: "false" });
  expect(await register.find(`${id}`)).toMatchObject({
    target: "HTTPS://receiver.example/hook",
    enabled: false,
  });
});

test("a webhook that was registered before can still be changed", async () => {
  const path = databasePath();
  const before = createService({ path });
  const { id } = await before.webhooks.register.create(always("block.applied", "http://receiver.example/"));
  await before.close();
  const { register } = createService({ path, options: { httpsOnly: true } }).webhooks;
  await register.update(`${id}`, { enabled: "false" });
  expect((await register.find(`${id}`)).enabled).toBe(false);
});
