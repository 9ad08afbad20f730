import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { DEFAULT_POST_OPTIONS, HttpPost } from "../../src/webhooks/delivery/post.ts";
import {
  isVerified,
  isVerifiedAsOfOld,
  type Received,
  secretOf,
} from "../../test-support/webhooks/receiver.ts";
import { always, blockApplied, createService, type Reply } from "../../test-support/webhooks/support.ts";
import { serve } from "./serve.ts";

/** Target on a real socket that records the deliveries. */
async function receive() {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    received.push({ headers: request.headers as Record<string, string>, body });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const http = new HttpPost({ ...DEFAULT_POST_OPTIONS, allowPrivateTargets: true });
  onTestFinished(async () => {
    await http.close();
    server.close();
  });
  return { received, post: http.post, target: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

describe("a rotation", () => {
  test("A rotation has no gap: both tokens sign for a time, the half of the new one at once.", async () => {
    const { received, post, target } = await receive();
    const { webhooks, emit, clock } = createService({ post });
    const { id, secrets: old } = await webhooks.register.create(always("block.applied", target));
    const deliver = async (height: number) => {
      await emit(blockApplied(height));
      await expect.poll(() => received.length).toBe(height);
      const message = present(received[height - 1]);
      return (token: string) => [
        isVerified(secretOf(token), message, clock.nowMs()),
        isVerifiedAsOfOld(token, message),
      ];
    };
    expect((await deliver(1))(old.token)).toEqual([true, true]);

    const { secrets } = await webhooks.register.rotate(`${id}`, { overlapSeconds: 3_600 });
    expect(secrets.token).toMatch(/^[0-9a-f]{64}$/);
    expect(secrets.token).not.toBe(old.token);
    const during = await deliver(2);
    // The header has room for one token (webhooks.md 10 point 8).
    expect([during(old.token), during(secrets.token)]).toEqual([
      [true, false],
      [true, true],
    ]);
    await clock.advance(3_600_000);
    const after = await deliver(3);
    expect([after(old.token), after(secrets.token)]).toEqual([
      [false, false],
      [true, true],
    ]);
  });

  test("A rotation loses no delivery of an old receiver that gets the new token late.", async () => {
    let known = "";
    const { webhooks, emit, clock, log } = createService({
      reply: (call) => (isVerifiedAsOfOld(known, call) ? 200 : 401),
    });
    const { id, secrets: old } = await webhooks.register.create(always());
    known = old.token;
    const { secrets } = await webhooks.register.rotate(`${id}`, { overlapSeconds: 3_600 });
    await emit(blockApplied(1));
    expect(log(id, 1)).toMatchObject([{ state: "pending", reason: "HTTP 401" }]);
    known = secrets.token;
    await clock.advance(5_000);
    expect(log(id, 1)).toMatchObject([{ state: "delivered" }]);
  });

  test("A rotation applies to retries of earlier deliveries.", async () => {
    let reply: Reply = 500;
    const { webhooks, emit, calls, clock } = createService({ reply: () => reply });
    const { secrets: old } = await webhooks.register.create(always());
    await emit(blockApplied(1));
    const { secrets } = await webhooks.register.rotate("1", { overlapSeconds: 0 });
    reply = 200;
    await clock.advance(5_000);
    const [first, second] = calls;
    expect(isVerified(secretOf(old.token), present(first), clock.nowMs())).toBe(true);
    expect(isVerified(secretOf(old.token), present(second), clock.nowMs())).toBe(false);
    expect(isVerified(secretOf(secrets.token), present(second), clock.nowMs())).toBe(true);
  });

  test("A rotation during another one ends the first.", async () => {
    const { webhooks, emit, calls, clock } = createService();
    const first = await webhooks.register.create(always());
    const second = await webhooks.register.rotate("1", {});
    const third = await webhooks.register.rotate("1", {});
    await emit(blockApplied(1));
    const verified = [first, second, third].map(({ secrets }) =>
      isVerified(secretOf(secrets.token), present(calls[0]), clock.nowMs()),
    );
    expect(verified).toEqual([false, true, true]);
  });

  test("A rotation returns the new token once, with the expiration of the old one.", async () => {
    const { ask, create, clock } = await serve();
    const { token: old, ...shown } = (await create()).body.data;
    const { status, body } = await ask("POST", "/api/webhooks/1/rotate", { body: { overlapSeconds: 60 } });
    expect(status).toBe(200);
    const { token, secret, ...rest } = body.data;
    expect(secret).toBe(secretOf(token));
    expect(rest).toEqual({ ...shown, overlapUntil: clock.nowMs() + 60_000 });
    expect(token).not.toBe(old);
    const day = await ask("POST", "/api/webhooks/1/rotate", { body: {} });
    expect(day.body.data.overlapUntil).toBe(clock.nowMs() + 86_400_000);
    expect((await ask("GET", "/api/webhooks/1")).body.data).toEqual(shown);
    for (const overlapSeconds of [-1, 1.5, "60", null, 30 * 86_400 + 1]) {
      const refused = await ask("POST", "/api/webhooks/1/rotate", { body: { overlapSeconds } });
      expect([overlapSeconds, refused.status]).toEqual([overlapSeconds, 422]);
    }
    expect((await ask("POST", "/api/webhooks/2/rotate", { body: {} })).status).toBe(404);
  });
});

test("An invalid signature is refused.", async () => {
  const { webhooks, emit, calls, clock } = createService();
  const { secrets } = await webhooks.register.create(always());
  await emit(blockApplied(1));
  const message: Received = present(calls[0]);
  const secret = secretOf(secrets.token);
  const nowMs = clock.nowMs();
  expect(isVerified(secret, message, nowMs)).toBe(true);
  expect(isVerified(secret, { ...message, body: `${message.body} ` }, nowMs)).toBe(false);
  expect(isVerified(secret, message, nowMs + 301_000)).toBe(false);
  for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"]) {
    const altered = { ...message.headers, [name]: `${message.headers[name]}1` };
    expect([name, isVerified(secret, { ...message, headers: altered }, nowMs)]).toEqual([name, false]);
  }
});
