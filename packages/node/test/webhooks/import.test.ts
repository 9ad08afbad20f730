import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { ConfigError } from "../../src/platform/coded-error.ts";
import { present } from "../../src/platform/present.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { DataInUseError, lockDataFolder } from "../../src/store/engine/folder-lock.ts";
import { SubscriptionError } from "../../src/subscriptions/subscription-error.ts";
import { SecretCipher } from "../../src/webhooks/secrets.ts";
import { OwnerStore } from "../../src/webhooks/sqlite/hand-over/owner.ts";
import { importOldRegister } from "../../src/webhooks/sqlite/import-register.ts";
import { encryptSecrets } from "../../src/webhooks/sqlite/secrets.ts";
import { isVerified, isVerifiedAsOfOld, secretOf } from "../../test-support/webhooks/receiver.ts";
import { blockApplied, createService, databasePath, settle } from "../../test-support/webhooks/support.ts";
import { serve } from "./serve.ts";

const NO_KEYS = { webhookKeyFile: undefined, webhookOldKeyFile: undefined };
/** Token that the creator of the webhook received; the old node kept the first half. */
const TOKEN = "fe944e318edb02b979d6bf0c87978b640c8e74e1cbfe36404386d33a5bbd8b66";
const HALF = TOKEN.slice(0, 32);

const old = (digit: string, changes: object = {}) => ({
  id: `${digit.repeat(8)}-aaaa-4bbb-8ccc-dddddddddddd`,
  event: "block.applied",
  target: "https://receiver.example/hook",
  enabled: true,
  conditions: [{ key: "height", condition: "gte", value: 2 }],
  token: HALF,
  ...changes,
});

function fileOf(content: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-old-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "webhooks.json");
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

/** A data folder, and the import of webhooks of an old node into it. */
function dataFolder() {
  const path = databasePath();
  return {
    path,
    bring: (content: unknown, webhookLimit = 1_000) =>
      importOldRegister(fileOf(content), { ...NO_KEYS, data: dirname(path), webhookLimit }),
  };
}

const idsIn = (path: string): number[] => createService({ path }).store.ids();

describe("webhooks of an old node", () => {
  test("Webhooks of an old node get ids of this node, and are found by the old ones on every path.", async () => {
    const { path, bring } = dataFolder();
    const [first, second] = [old("1"), old("2", { event: "transaction.applied", enabled: false })];
    expect(bring({ webhooks: [first, second] }).map(({ alias, webhook }) => [alias, webhook.id])).toEqual([
      [first.id, 1],
      [second.id, 2],
    ]);
    const { ask } = await serve(undefined, { path });
    const { id: _id, token: _token, ...shown } = second;
    expect((await ask("GET", `/api/webhooks/${second.id}`)).body).toEqual({ data: { id: 2, ...shown } });
    expect((await ask("GET", "/api/webhooks")).body.data.map(({ id }: { id: number }) => id)).toEqual([1, 2]);

    const alias = `/api/v2/webhooks/${first.id}`;
    const statuses = [
      await ask("POST", `${alias}/ping`),
      await ask("GET", `${alias}/deliveries?limit=1`),
      await ask("GET", `${alias}/deliveries/1`),
      await ask("POST", `${alias}/deliveries/1/retry`),
      await ask("POST", `${alias}/deliveries/retry`, { body: { since: 0 } }),
      await ask("GET", `${alias}/replay`),
      await ask("DELETE", `${alias}/replay`),
      await ask("PUT", alias, { body: { target: "https://receiver.example/other" } }),
      await ask("POST", `${alias}/rotate`, { body: {} }),
      await ask("DELETE", alias),
      await ask("GET", alias),
      await ask("GET", "/api/webhooks/1"),
      await ask("GET", `/api/webhooks/${first.id.toUpperCase()}`),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 404, 404, 200, 200, 200, 404, 404, 404]);
    expect((await ask("GET", `/api/webhooks/${second.id}`)).status).toBe(200);
  });

  test("Webhooks of an old node authenticate to their receivers as before, and sign with the ASCII text of the half.", async () => {
    const { path, bring } = dataFolder();
    bring({ webhooks: [old("1")] });
    const { webhooks, emit, calls, clock } = createService({ path });
    await emit(blockApplied(1), blockApplied(2));
    expect(calls).toHaveLength(1);
    const { headers, body } = present(calls[0]);
    expect(headers.authorization).toBe(HALF);
    expect(isVerifiedAsOfOld(TOKEN, present(calls[0]))).toBe(true);
    const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
    const expected = createHmac("sha256", HALF).update(signed).digest("base64");
    expect(headers["webhook-signature"]).toBe(`v1,${expected}`);
    const secret = `whsec_${Buffer.from(HALF).toString("base64")}`;
    expect(isVerified(secret, present(calls[0]), clock.nowMs())).toBe(true);

    await webhooks.register.update(old("1").id, { target: "https://receiver.example/other" });
    await emit(blockApplied(3));
    expect(present(calls[1]).headers.authorization).toBe(HALF);

    const { secrets } = await webhooks.register.rotate(old("1").id, { overlapSeconds: 60 });
    await emit(blockApplied(4));
    expect(isVerified(secret, present(calls[2]), clock.nowMs())).toBe(true);
    expect(isVerified(secretOf(secrets.token), present(calls[2]), clock.nowMs())).toBe(true);
  });

  test("Webhooks of an old node that sign with half a key are named in the log, until they are rotated.", async () => {
    const { path, bring } = dataFolder();
    bring({ webhooks: [old("1"), old("2"), old("3", { token: TOKEN })] });
    const named: unknown[] = [];
    const logger = pino(
      { base: null },
      { write: (line: string) => void named.push(JSON.parse(line).webhooks) },
    );
    const first = createService({ path, logger });
    await first.webhooks.register.rotate("1", {});
    await first.close();
    createService({ path, logger });
    await settle();
    expect(named).toEqual([[1, 2], [2]]);
  });

  test("Webhooks of an old node without conditions continue to match always, also after an update.", async () => {
    const { path, bring } = dataFolder();
    bring([old("1", { conditions: [] })]);
    const { webhooks, emit, calls } = createService({ path });
    await emit(blockApplied(1));
    await webhooks.register.update("1", { enabled: "true" });
    await emit(blockApplied(2));
    expect(calls).toHaveLength(2);
    expect((await webhooks.register.find("1")).conditions).toBe("[]");
    await expect(webhooks.register.update("1", { conditions: [] })).rejects.toThrow("must not be empty");
  });

  test("Webhooks of an old node are registered once, however often imported, and again after their removal.", async () => {
    const { path, bring } = dataFolder();
    bring([old("1")]);
    const more = [old("1", { target: "https://receiver.example/other" }), old("2")];
    expect(bring(more).map(({ webhook }) => webhook.id)).toEqual([2]);
    const service = createService({ path });
    expect((await service.webhooks.register.find("1")).target).toBe("https://receiver.example/hook");
    await service.webhooks.register.remove(old("1").id);
    await service.close();
    expect(bring(more).map(({ webhook }) => webhook.id)).toEqual([3]);
  });

  test("Webhooks of an old node are encrypted if the secrets of the data folder are.", () => {
    const { path } = dataFolder();
    const webhookKeyFile = fileOf("0123456789abcdef0123456789abcdef");
    const keys = { ...NO_KEYS, webhookKeyFile };
    importOldRegister(fileOf([old("1")]), { ...keys, data: dirname(path), webhookLimit: 10 });
    const database = openDatabase(path);
    onTestFinished(database.close);
    const kept = present(database.prepare<{ token: string }>("SELECT token FROM webhooks").get()).token;
    expect(kept).toMatch(/^sealed:/);
    expect(new SecretCipher(encryptSecrets(database, keys, () => {})).decrypt(kept, "webhook 1")).toBe(HALF);
    const plain = { ...NO_KEYS, data: dirname(path), webhookLimit: 10 };
    expect(() => importOldRegister(fileOf([old("2")]), plain)).toThrow(ConfigError);
  });
});

describe("an import is refused, and registers nothing,", () => {
  test.each([
    ["of an unknown event", { event: "block.aplied" }, '"event": unknown event "block.aplied"'],
    ["of a target that is not a web URL", { target: "ftp://receiver.example/" }, '"target" must be'],
    [
      "of an unknown operator",
      { conditions: [{ key: "a", condition: "is" }] },
      '"conditions" at position 0: "condition" must be',
    ],
    [
      "of a range without bounds",
      { conditions: [{ key: "a", condition: "between", value: 1 }] },
      '"conditions" at position 0: "value"',
    ],
    ["without conditions at all", { conditions: undefined }, '"conditions" is required'],
    ["without token", { token: undefined }, '"token" is required'],
    ["of another kind of token", { token: "secret" }, '"token" must be 32 or 64 hexadecimal digits'],
    ["of another kind of id", { id: "1" }, '"id" must be a UUID'],
    ["of a registered id", { id: old("1").id }, '"id" is the id of a previous entry'],
    ["with an unknown member", { secret: 1 }, '"secret" is not allowed'],
  ])("An import is refused, and registers nothing, for a webhook %s.", (_case, changes, message) => {
    const { path, bring } = dataFolder();
    const content = { webhooks: [old("1"), old("2", changes)] };
    expect(() => bring(content)).toThrow(SubscriptionError);
    expect(() => bring(content)).toThrow(`webhook 2 of the file: ${message}`);
    expect(idsIn(path)).toEqual([]);
  });

  test("An import is refused, registers nothing, and reports all errors together.", () => {
    const { bring } = dataFolder();
    expect(() => bring([old("1", { event: 1 }), old("2"), old("3", { token: 1 })])).toThrow(
      /^webhook 1 of the file: .*\nwebhook 3 of the file: .*$/,
    );
  });

  test.each([["{"], ['{"hooks": []}'], ["1"], ["null"]])(
    "An import is refused, and registers nothing, for the file %s.",
    (content) => {
      expect(() => dataFolder().bring(content)).toThrow(/cannot be read|must have a list|must be an object/);
    },
  );

  test.each([
    ["of more values than memory can hold", `[${"{},".repeat(1_000_000)}{}]`, "more than 1000000 values"],
    ["of lists within lists", "[".repeat(5_000), "more than 4096 nested levels"],
  ])(
    "An import is refused, and registers nothing, for a file %s, before it is parsed.",
    (_case, content, message) => {
      expect(() => dataFolder().bring(content)).toThrow(ConfigError);
      expect(() => dataFolder().bring(content)).toThrow(message);
    },
  );

  test("An import is refused, and registers nothing, if the register would be too full.", () => {
    const { path, bring } = dataFolder();
    bring([old("1")], 2);
    expect(() => bring([old("1"), old("2"), old("3")], 2)).toThrow("more than 2 webhooks");
    expect(bring([old("1"), old("2")], 2)).toHaveLength(1);
    expect(idsIn(path)).toEqual([1, 2]);
  });

  test("An import is refused, and registers nothing, while delivery workers own the webhooks of the node.", () => {
    const { path, bring } = dataFolder();
    bring([old("1")]);
    const database = openDatabase(path);
    onTestFinished(database.close);
    new OwnerStore(database).write({ state: "workers", transfer: "a" });
    expect(() => bring([old("2")])).toThrow("uniknode webhooks hand-over --to node");
  });

  test("An import is refused, and registers nothing, while the node runs.", () => {
    const { path, bring } = dataFolder();
    onTestFinished(lockDataFolder(dirname(path)).release);
    expect(() => bring([old("1")])).toThrow(DataInUseError);
  });
});

describe("a file that is larger than the register can be", () => {
  const codeOf = (bring: () => unknown) => {
    try {
      return bring();
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  test("A file that is larger than the register can be is refused before its entries are read.", () => {
    const { bring, path } = dataFolder();
    // Each of these would be a separate error.
    const unreadable = Array.from({ length: 4 }, () => 7);
    expect(codeOf(() => bring(unreadable, 3))).toBe("WEBHOOK_LIMIT");
    expect(codeOf(() => bring(unreadable, 4))).toBe("INVALID_MEMBER");
    expect(idsIn(path)).toEqual([]);
  });

  test("A file that is larger than the register can be is refused unread if it exceeds 64 MiB.", () => {
    const { bring } = dataFolder();
    expect(() => bring(" ".repeat(64 * 1_024 * 1_024 + 1))).toThrow(ConfigError);
  });

  test("A file is refused if its conditions exceed the bound of all webhooks.", () => {
    const { bring, path } = dataFolder();
    const conditions = Array.from({ length: 50 }, () => ({
      key: "id",
      condition: "ne",
      value: "x".repeat(4_096),
    }));
    const entries = Array.from({ length: 82 }, (_, index) => ({
      ...old("1", { conditions }),
      id: `${`${index}`.padStart(8, "0")}-aaaa-4bbb-8ccc-dddddddddddd`,
    }));
    expect(codeOf(() => bring(entries))).toBe("WEBHOOK_LIMIT");
    expect(idsIn(path)).toEqual([]);
    expect(bring(entries.slice(1))).toHaveLength(81);
  });
});
