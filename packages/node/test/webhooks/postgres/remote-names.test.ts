/** The names of events that a node records for the workers are repeated, in case the node has lost them. */
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { RemoteNames, type RepetitionTimes } from "../../../src/webhooks/postgres/hand-over/owner.ts";
import { useDatabases } from "../../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../../test-support/postgres/server.ts";
import { insertWebhook, ownByWorkers } from "../../../test-support/webhooks/postgres-rows.ts";
import { openDatabase } from "./open.ts";

const LONG_MS = 3_600_000;

describe.skipIf(!hasPostgres)("the names of events that a node records for workers", () => {
  const databases = useDatabases();

  /** Begins to repeat the names to a node, which fails each call for which `fails` returns true. */
  async function begin(times: RepetitionTimes, fails: (call: number) => boolean = () => false) {
    const postgres = await openDatabase(databases);
    const calls: string[][] = [];
    const lines: string[] = [];
    const names = new RemoteNames({
      postgres,
      gateway: {
        async replaceRemoteNames(names) {
          calls.push([...names].sort());
          if (fails(calls.length)) throw new Error("down");
          return { lastSequence: 0 };
        },
      },
    });
    const ended = new AbortController();
    const logger = pino({}, { write: (line: string) => void lines.push(line) });
    const repeated = names.repeat({ logger, signal: ended.signal }, times);
    const end = () => {
      ended.abort();
      return repeated;
    };
    onTestFinished(end);
    return { postgres, calls, lines, end };
  }

  test("The names of events that a node records for workers are repeated while the workers own the webhooks.", async () => {
    const { postgres, calls, lines, end } = await begin({ everyMs: 10, retryMs: LONG_MS });
    await sleep(200);
    expect(calls).toEqual([]);
    await ownByWorkers(postgres);
    await expect.poll(() => calls.at(-1)).toEqual([]);
    await insertWebhook(postgres);
    await expect.poll(() => calls.at(-1)).toEqual(["block.applied", "block.reverted"]);
    const { length } = calls;
    await expect.poll(() => calls.length).toBeGreaterThan(length + 3);
    await end();
    const last = calls.length;
    await sleep(100);
    expect([calls.length, lines]).toEqual([last, []]);
  });

  test("The names of events that a node records for workers are repeated sooner after a failure, which is logged once.", async () => {
    const { postgres, calls, lines } = await begin({ everyMs: 50, retryMs: 10 }, (call) => call <= 3);
    await ownByWorkers(postgres);
    await expect.poll(() => calls.length).toBeGreaterThan(3);
    await expect.poll(() => lines.length).toBe(2);
    expect(lines[0]).toContain("failed to send the node the names of the events that webhooks need");
    expect(lines[1]).toContain("the node has the names of the events that webhooks need");
  });
});
