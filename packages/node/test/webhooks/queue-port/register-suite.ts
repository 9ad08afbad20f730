/** Behaviour of every implementation of the register's commands. */
import { beforeEach, describe, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import type { RegisterStorage } from "../../../src/webhooks/storage/register-commands.ts";
import type { WebhookFilter, WebhookOrder } from "../../../src/webhooks/storage/webhook-list.ts";
import { MAX_CONDITIONS_BYTES } from "../../../src/webhooks/storage/webhooks.ts";
import {
  apply,
  FIELDS,
  NOW_MS,
  nextFirst,
  type OpenSubject,
  put,
  putReplayed,
  type Subject,
  TOKEN,
} from "./subject.ts";

const UNKNOWN_WEBHOOK = 999;
const NEW = { fields: FIELDS, token: TOKEN };
const drop = { reason: "updated", atMs: NOW_MS };

export function describeRegister(name: string, open: OpenSubject): void {
  describe(`the register of ${name}`, () => {
    let subject: Subject;
    let register: RegisterStorage;
    let commands: RegisterStorage["commands"];
    beforeEach(async () => {
      subject = await open();
      register = subject.register;
      commands = register.commands;
    });

    const active = async () =>
      present(await subject.intake.activeWebhooks(undefined)).webhooks.map(({ id }) => id);
    const firstIds = async (webhook: number) =>
      (await nextFirst(subject.queue, webhook, 0, 9)).map(({ message: { id } }) => id);

    const fail = (webhook: number, delivery: number) =>
      subject.queue.record([
        {
          ...{ webhook, delivery, atMs: NOW_MS },
          attempt: { startedMs: NOW_MS, durationMs: 5, status: 500 },
          failure: {
            reason: "HTTP 500",
            retryAtMs: NOW_MS + 9,
            suspension: { reason: "-", ifFailingBeforeMs: 0 },
          },
        },
      ]);

    describe("a new webhook", () => {
      test("A new webhook has an increasing id that is never used again, and the given fields.", async () => {
        const first = await commands.insert(NEW, 9);
        expect(first).toEqual({ id: first.id, ...FIELDS, secrets: { token: TOKEN } });
        await commands.activate(first.id);
        expect(await register.webhooks.find(first.id)).toEqual(first);
        await commands.remove(first.id);
        expect((await commands.insert(NEW, 9)).id).toBeGreaterThan(first.id);
      });

      test("A new webhook is visible after its activation only, because no client has its token before.", async () => {
        const { webhooks, health } = register;
        const range = { offset: 0, limit: 9 };
        const { id } = await commands.insert(NEW, 9);
        const visible = async () => ({
          found: (await webhooks.find(id))?.id,
          listed: (await webhooks.page(range)).map((webhook) => webhook.id),
          searched: (await webhooks.search({ state: "active" }, range, NOW_MS)).totalCount,
          ordered: (await webhooks.search({ orderBy: "id:desc" }, range, NOW_MS)).webhooks.length,
          count: await webhooks.count(),
          active: (await health.totals(NOW_MS)).active,
        });
        expect(await visible()).toEqual({ listed: [], searched: 0, ordered: 0, count: 0, active: 0 });
        await commands.activate(id);
        expect(await visible()).toEqual({
          ...{ found: id, listed: [id] },
          ...{ searched: 1, ordered: 1, count: 1, active: 1 },
        });
      });

      test("A new webhook has a twin if another enabled webhook has its target, events and conditions.", async () => {
        const first = await commands.insert(NEW, 9);
        expect(await register.webhooks.twinOf(first)).toBeUndefined();
        const second = await commands.insert({ fields: { ...FIELDS, name: "again" }, token: TOKEN }, 9);
        expect(await register.webhooks.twinOf(second)).toBeUndefined();
        await commands.activate(first.id);
        expect(await register.webhooks.twinOf(second)).toBe(first.id);
        for (const other of [
          { event: null, events: ["block.*"] },
          { target: "https://other.example/" },
          { match: "all" },
          { conditions: "[1]" },
        ] as const) {
          const different = { fields: { ...FIELDS, ...other }, token: TOKEN };
          expect(await register.webhooks.twinOf(await commands.insert(different, 9))).toBeUndefined();
        }
        await commands.update(first.id, { changes: { enabled: false } });
        expect(await register.webhooks.twinOf(second)).toBeUndefined();
      });

      test("A new webhook is counted with others that arrive at the same time, and a refused one undoes no other.", async () => {
        const results = await Promise.allSettled([1, 2, 3].map(() => commands.insert(NEW, 2)));
        expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
        expect(results[2]).toMatchObject({ reason: { code: "WEBHOOK_LIMIT" } });
        expect(await subject.queue.webhooks()).toHaveLength(2);
      });

      test("A new webhook is refused if all conditions would become too large.", async () => {
        const conditions = `[${" ".repeat(MAX_CONDITIONS_BYTES / 2)}]`;
        const large = { fields: { ...FIELDS, conditions }, token: TOKEN };
        const { id } = await commands.insert(large, 9);
        await expect(commands.insert(large, 9)).rejects.toMatchObject({ code: "WEBHOOK_LIMIT" });
        const other = await commands.insert(NEW, 9);
        const change = commands.update(other.id, { changes: { conditions } });
        await expect(change).rejects.toMatchObject({ code: "WEBHOOK_LIMIT" });
        expect(await commands.update(id, { changes: { conditions } })).toBeDefined();
      });

      test("A new webhook receives the events that are logged after its activation, and the ping before them.", async () => {
        const { id } = await commands.insert(NEW, 9);
        await subject.append([{ id: "peer.added:1", name: "peer.added" }]);
        const ping = {
          webhook: id,
          id: "ping",
          event: "ping",
          createdMs: NOW_MS,
          content: { dataText: "{}" },
        };
        await commands.activate(id, ping);
        const { webhooks } = present(await subject.intake.activeWebhooks(undefined));
        expect(webhooks).toMatchObject([{ id, activeAfter: 1 }]);
        await put(subject, id, ["a"]);
        const deliveries = await nextFirst(subject.queue, id, 0, 9);
        expect(deliveries.map(({ message }) => [message.id, message.sequence, message.timeMs])).toEqual([
          ["ping", undefined, NOW_MS],
          ["a", 1, NOW_MS],
        ]);
      });
    });

    describe("an update", () => {
      test("An update changes the given fields, and keeps id, secret and queue.", async () => {
        const id = await subject.addWebhook();
        await put(subject, id, ["a"]);
        const updated = present(await commands.update(id, { changes: { name: "mine", order: "strict" } }));
        expect(updated).toMatchObject({ before: { id, order: "parallel" }, restarts: false, dropped: 0 });
        expect(await register.webhooks.find(id)).toMatchObject({
          ...FIELDS,
          id,
          name: "mine",
          order: "strict",
          secrets: { token: TOKEN },
        });
        expect(await firstIds(id)).toEqual(["a"]);
      });

      test("An update of different fields at the same time changes all of them.", async () => {
        const id = await subject.addWebhook();
        await Promise.all([
          commands.update(id, { changes: { name: "mine" } }),
          commands.update(id, { changes: { confirmations: 7 } }),
        ]);
        expect(await register.webhooks.find(id)).toMatchObject({ name: "mine", confirmations: 7 });
      });

      test("An update is refused without an event, and of an unknown webhook.", async () => {
        const id = await subject.addWebhook();
        const refused = commands.update(id, { changes: { event: null, name: "mine" } });
        await expect(refused).rejects.toMatchObject({ code: "MISSING_MEMBER" });
        expect(present(await register.webhooks.find(id)).name).toBeUndefined();
        expect(await commands.update(UNKNOWN_WEBHOOK, { changes: { name: "mine" } })).toBeUndefined();
      });

      test("An update to another target restarts the queue, also when it ends a pause or a suspension.", async () => {
        const id = await subject.addWebhook();
        const [a] = await put(subject, id, ["a"]);
        await fail(id, present(a));
        expect(await firstIds(id)).toEqual([]);
        const moved = { changes: { target: "https://other.example/" } };
        expect(await commands.update(id, moved)).toMatchObject({ restarts: true });
        expect(await firstIds(id)).toEqual(["a"]);
        expect(await commands.update(id, { changes: { enabled: false } })).toMatchObject({ restarts: false });
        expect(await active()).toEqual([]);
        expect(await commands.update(id, { changes: { enabled: true } })).toMatchObject({ restarts: true });
        await apply(subject, [{ kind: "suspend", webhook: id, reason: "too expensive" }]);
        expect(await active()).toEqual([]);
        expect(await commands.update(id, { changes: {} })).toMatchObject({ restarts: true });
        expect(await active()).toEqual([id]);
      });

      test("An update that drops the queue cancels deliveries and the replay, and retractions only for another target.", async () => {
        const id = await subject.addWebhook();
        await put(subject, id, ["fact"]);
        await put(subject, id, ["retraction"], { reverts: "fact" });
        await putReplayed(subject, id, ["replayed"]);
        expect(await commands.update(id, { changes: {}, drop })).toMatchObject({ dropped: 3 });
        expect(await firstIds(id)).toEqual(["retraction"]);
        const replay = { state: "cancelled", reason: "updated", waiting: 0 };
        expect(await subject.queue.replays.find(id)).toMatchObject(replay);
        await commands.update(id, { changes: { target: "https://other.example/" }, drop });
        expect(await firstIds(id)).toEqual([]);
      });
    });

    test("A search finds webhooks by a part of their name, target or events, and by their state.", async () => {
      const shop = await subject.addWebhook({ name: "Shop of Anna" });
      const hook = await subject.addWebhook({ event: null, events: ["unik.*"] });
      const off = await subject.addWebhook({ target: "https://shop.example/", enabled: false });
      const suspended = await subject.addWebhook();
      await apply(subject, [{ kind: "suspend", webhook: suspended, reason: "too expensive" }]);
      const search = async (filter: WebhookFilter, range = { offset: 0, limit: 9 }) => {
        const { webhooks, totalCount } = await register.webhooks.search(filter, range, NOW_MS);
        return [webhooks.map(({ id }) => id), totalCount];
      };
      expect(await search({ search: "SHOP" })).toEqual([[shop, off], 2]);
      expect(await search({ search: "shop" }, { offset: 1, limit: 1 })).toEqual([[off], 2]);
      expect(await search({ search: "shop" }, { offset: 5, limit: 1 })).toEqual([[], 2]);
      expect(await search({ search: "unik.*" })).toEqual([[hook], 1]);
      expect(await search({ search: "%" })).toEqual([[], 0]);
      const umlaut = await subject.addWebhook({ name: "Überweisungen", enabled: false });
      expect(await search({ search: "ÜBER" })).toEqual([[umlaut], 1]);
      expect(await search({ search: "über" })).toEqual([[], 0]);
      await commands.remove(umlaut);
      expect(await search({ state: "paused" })).toEqual([[off], 1]);
      expect(await search({ state: "suspended" })).toEqual([[suspended], 1]);
      expect(await search({ state: "active" })).toEqual([[shop, hook], 2]);
      expect(await search({ state: "failing" })).toEqual([[], 0]);
      expect(await search({ state: "active", search: "anna" })).toEqual([[shop], 1]);
      const [delivery] = await put(subject, hook, ["a"]);
      await fail(hook, present(delivery));
      expect(await search({ state: "failing" })).toEqual([[hook], 1]);
      expect(await search({ state: "active" })).toEqual([[shop], 1]);
    });

    test("A list is ordered by a field in either direction, webhooks without a value last.", async () => {
      const zoe = await subject.addWebhook({ name: "zoe", target: "https://a.example/" });
      const none = await subject.addWebhook({ target: "https://B.example/" });
      const anna = await subject.addWebhook({ name: "Anna", target: "https://c.example/" });
      const ordered = async (orderBy: WebhookOrder, range = { offset: 0, limit: 9 }) => {
        const { webhooks } = await register.webhooks.search({ orderBy }, range, NOW_MS);
        return webhooks.map(({ id }) => id);
      };
      expect(await ordered("name:asc")).toEqual([anna, zoe, none]);
      expect(await ordered("name:desc")).toEqual([zoe, anna, none]);
      expect(await ordered("name:desc", { offset: 1, limit: 1 })).toEqual([anna]);
      expect(await ordered("target:asc")).toEqual([zoe, none, anna]);
      expect(await ordered("id:desc")).toEqual([anna, none, zoe]);
      const [delivery] = await put(subject, none, ["a"]);
      await fail(none, present(delivery));
      expect(await ordered("failing.since:asc")).toEqual([none, zoe, anna]);
      await commands.update(none, { changes: { enabled: false } });
      expect(await ordered("failing.since:desc")).toEqual([zoe, none, anna]);
    });

    test("A rotation sets a new token, and keeps the former one until a time.", async () => {
      const id = await subject.addWebhook();
      const token = "6".repeat(64);
      const rotated = present(await commands.rotate(id, token, NOW_MS));
      expect(rotated.secrets).toEqual({ token, previous: { token: TOKEN, untilMs: NOW_MS } });
      expect(await register.webhooks.find(id)).toEqual(rotated);
      expect(await commands.rotate(UNKNOWN_WEBHOOK, token, NOW_MS)).toBeUndefined();
    });

    test("A webhook is removed once.", async () => {
      const id = await subject.addWebhook();
      expect(await Promise.all([commands.remove(id), commands.remove(id)])).toEqual([true, false]);
      expect(await register.webhooks.find(id)).toBeUndefined();
      expect(await register.webhooks.page({ offset: 0, limit: 9 })).toEqual([]);
    });

    test("A resumption lifts a suspension from the newest event on, and changes no other webhook.", async () => {
      const id = await subject.addWebhook();
      const other = await subject.addWebhook();
      await apply(subject, [{ kind: "suspend", webhook: id, reason: "too expensive" }]);
      await subject.append([{ id: "peer.added:1", name: "peer.added" }]);
      await commands.resume(id);
      await commands.resume(other);
      expect(present(await register.webhooks.find(id)).suspended).toBeUndefined();
      const { webhooks } = present(await subject.intake.activeWebhooks(undefined));
      expect(webhooks.map(({ id, activeAfter }) => [id, activeAfter])).toEqual([
        [id, 1],
        [other, 0],
      ]);
    });
  });
}
