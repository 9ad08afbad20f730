/** The command of a hand-over takes the webhooks of workers in a real database, and returns them as soon as it is cancelled. */
import { pino } from "pino";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Postgres } from "../../../src/postgres/connection.ts";
import { PostgresWorkersSide } from "../../../src/webhooks/postgres/hand-over/workers-side.ts";
import { ShardOwnership } from "../../../src/webhooks/postgres/ownership.ts";
import { PLAIN_SECRETS } from "../../../src/webhooks/secrets.ts";
import { SHARDS } from "../../../src/webhooks/storage/shards.ts";
import { useDatabases } from "../../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../../test-support/postgres/server.ts";
import { WAIT_MS } from "../../../test-support/process/until.ts";
import { insertWebhook, ownByWorkers } from "../../../test-support/webhooks/postgres-rows.ts";
import { openDatabase } from "./open.ts";

const BEGIN = { from: "workers", to: "to node", transfer: "second" } as const;
const CANCEL = { from: "to node", to: "workers", transfer: "second" } as const;

describe.runIf(hasPostgres)("a hand-over to the node", () => {
  const databases = useDatabases();
  let postgres: Postgres;
  let workers: ShardOwnership[];
  let command: AbortController;
  beforeEach(async () => {
    postgres = await openDatabase(databases);
    await ownByWorkers(postgres);
    for (let webhook = 0; webhook < SHARDS; webhook++) await insertWebhook(postgres);
    workers = ["a", "b"].map(
      (worker) =>
        new ShardOwnership({ worker, leaseMs: 60_000 }, { postgres, elapsedMs: () => performance.now() }),
    );
    await share();
    command = new AbortController();
    onTestFinished(() => command.abort());
  });

  /** Renews the leases until the workers share all shards. */
  async function share(): Promise<void> {
    for (let renewals = 0; renewals < 3; renewals++)
      for (const worker of workers) await worker.giveUp((await worker.renew()).surplus);
  }
  const shares = () => workers.map(({ held }) => held.size);

  const open = (): PostgresWorkersSide =>
    new PostgresWorkersSide(
      { network: "chain", maxContentBytes: 1_000 },
      { postgres, cipher: PLAIN_SECRETS, logger: pino({ level: "silent" }), signal: command.signal },
    );

  const names = async () =>
    (await postgres.query<{ name: string }>("SELECT name FROM delivery_workers ORDER BY name")).map(
      ({ name }) => name,
    );

  /** Begins a hand-over that has the shards of one worker, and waits for those of the other one. */
  async function startWaiting() {
    await open().change(BEGIN);
    const taking = open().takeAll("second", WAIT_MS);
    const ended = taking.catch((error: unknown) => error);
    const [first] = workers;
    await first?.giveUp((await first.renew()).surplus);
    const held = () => postgres.query("SELECT FROM shards WHERE owner = 'hand-over'");
    await expect.poll(held).toHaveLength(SHARDS / 2);
    return { taking, ended };
  }

  test("A hand-over that waits for the calls of workers ends when it is cancelled, and the workers own all again.", async () => {
    const { ended } = await startWaiting();
    await open().change(CANCEL);
    expect(await ended).toMatchObject({ code: "OWNER_CHANGED" });
    expect(await names()).toEqual(["a", "b"]);
    await share();
    expect(shares()).toEqual([SHARDS / 2, SHARDS / 2]);
  });

  test("A hand-over to the node that waits ends when another hand-over has begun meanwhile.", async () => {
    const { ended } = await startWaiting();
    await postgres.query("UPDATE webhook_register SET transfer = 'third'");
    expect(await ended).toMatchObject({ code: "OWNER_CHANGED" });
    expect(await names()).toEqual(["a", "b"]);
    expect(await postgres.query("SELECT FROM shards WHERE owner = 'hand-over'")).toEqual([]);
  });

  test("A hand-over that copies the rows notices a cancellation with its next renewal, and keeps no webhook.", async () => {
    const { taking } = await startWaiting();
    const [, second] = workers;
    await second?.giveUp((await second.renew()).surplus);
    const taken = await taking;
    await taken.renew();
    await open().change(CANCEL);
    // The workers need not wait for the end of its lease, even if the command was killed.
    expect(await names()).toEqual(["a", "b"]);
    await expect(taken.renew()).rejects.toMatchObject({ code: "OWNER_CHANGED" });
    await taken.release();
    expect(await names()).toEqual(["a", "b"]);
    await share();
    expect(shares()).toEqual([SHARDS / 2, SHARDS / 2]);
  });
});
