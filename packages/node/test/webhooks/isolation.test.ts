/** Misbehaving receivers, and others that must not be affected. */
import { describe, expect, onTestFinished, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { systemClock } from "../../src/webhooks/collaborators.ts";
import { DEFAULT_POST_OPTIONS, HttpPost } from "../../src/webhooks/delivery/post.ts";
import { good, HOSTILE, listen } from "../../test-support/webhooks/hostile.ts";
import { always, blockApplied, createService } from "../../test-support/webhooks/support.ts";

function open(timeoutMs: number) {
  const http = new HttpPost({ ...DEFAULT_POST_OPTIONS, allowPrivateTargets: true, timeoutMs });
  onTestFinished(() => http.close());
  return createService({
    post: http.post,
    clock: { ...systemClock, step() {}, advance: async () => {} },
    options: { webhookLimit: 2_000 },
  });
}

const events = (count: number) => Array.from({ length: count }, (_, index) => blockApplied(index + 1));

describe("a receiver that", () => {
  test.each(Object.entries(HOSTILE))("%s delays no other", async (_name, behave) => {
    const { webhooks, emit } = open(30_000);
    const hostile = await listen(behave);
    const hooks = Array.from({ length: 50 }, () => always("block.applied", hostile));
    await Promise.all(hooks.map((hook) => webhooks.register.create(hook)));
    const { seen, target } = await good();
    await webhooks.register.create(always("block.applied", target));
    await emit(...events(100));
    await expect.poll(() => seen.count).toBe(100);
  });
});

test("A thousand hostile webhooks delay no other.", async () => {
  // No request ends before all others have started.
  const { webhooks, emit, database } = open(60_000);
  const targets = await Promise.all(Object.values(HOSTILE).map(listen));
  const hooks = Array.from({ length: 1_000 }, (_, index) =>
    always("block.applied", present(targets[index % targets.length])),
  );
  // At once, so that few commits contain them.
  await Promise.all(hooks.map((hook) => webhooks.register.create(hook)));
  const { seen, target } = await good();
  for (let count = 0; count < 5; count++) await webhooks.register.create(always("block.applied", target));
  await emit(...events(10));
  await expect.poll(() => seen.count).toBe(50);
  const delivered = database.prepare<{ count: number }>(
    "SELECT count(*) AS count FROM deliveries WHERE webhook > 1000 AND state = 'delivered'",
  );
  await expect.poll(() => delivered.get()?.count).toBe(50);
});
