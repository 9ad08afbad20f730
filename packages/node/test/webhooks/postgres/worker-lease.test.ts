/** The name of a worker belongs to one process at a time, and to the next one when the lease of a killed process has ended. */
import { pino } from "pino";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Postgres } from "../../../src/postgres/connection.ts";
import {
  beginLease,
  endLease,
  renewLease,
  type WorkerLease,
  waitForName,
} from "../../../src/webhooks/postgres/worker-lease.ts";
import { useDatabases } from "../../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../../test-support/postgres/server.ts";
import { openDatabase } from "./open.ts";

const leaseOf = (session: string, leaseMs = 60_000): WorkerLease => ({ worker: "a", session, leaseMs });

describe.runIf(hasPostgres)("the lease of a worker", () => {
  const databases = useDatabases();
  let postgres: Postgres;
  let lines: { readonly msg: string }[];
  beforeEach(async () => {
    postgres = await openDatabase(databases);
    lines = [];
  });

  function waitWith(session: string) {
    const stopping = new AbortController();
    onTestFinished(() => stopping.abort());
    const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
    return waitForName(postgres.query, leaseOf(session), logger, stopping.signal);
  }
  const sessions = async () =>
    (await postgres.query<{ session: string }>("SELECT session FROM delivery_workers")).map(
      ({ session }) => session,
    );
  const isWaiting = () => expect.poll(() => lines).toHaveLength(1);

  test("The lease of a worker keeps its name from other processes, and its own process can begin it again.", async () => {
    await beginLease(postgres.query, leaseOf("first"));
    await expect(beginLease(postgres.query, leaseOf("second"))).rejects.toMatchObject({
      code: "WORKER_NAME_IN_USE",
      message: expect.stringContaining("--name"),
    });
    expect(await renewLease(postgres.query, leaseOf("second"))).toBe(false);
    // The response to the first statement may have been lost.
    await beginLease(postgres.query, leaseOf("first"));
    expect(await renewLease(postgres.query, leaseOf("first"))).toBe(true);
    expect(await sessions()).toEqual(["first"]);
  });

  test("The lease of a worker that another process has taken after its end cannot be renewed or ended by the former.", async () => {
    await beginLease(postgres.query, leaseOf("first", 0));
    await beginLease(postgres.query, leaseOf("second"));
    expect(await renewLease(postgres.query, leaseOf("first"))).toBe(false);
    await endLease(postgres.query, leaseOf("first"));
    expect(await sessions()).toEqual(["second"]);
  });

  test("The lease of a worker refuses a process that waits for the name as soon as the running one renews it.", async () => {
    await beginLease(postgres.query, leaseOf("running"));
    const refused = expect(waitWith("next")).rejects.toMatchObject({ code: "WORKER_NAME_IN_USE" });
    await isWaiting();
    await renewLease(postgres.query, leaseOf("running"));
    await refused;
    expect(await sessions()).toEqual(["running"]);
  });

  test("The lease of a worker of a killed process passes to a waiting one when it ends.", async () => {
    await beginLease(postgres.query, leaseOf("killed", 5_000));
    await waitWith("next");
    expect(lines.map(({ msg }) => msg)).toEqual([expect.stringContaining("waiting: ")]);
    expect(await sessions()).toEqual(["next"]);
  });

  test("The lease of a worker of a stopped process passes to the next one without a wait.", async () => {
    await beginLease(postgres.query, leaseOf("stopped"));
    await endLease(postgres.query, leaseOf("stopped"));
    await waitWith("next");
    expect([lines, await sessions()]).toEqual([[], ["next"]]);
  });

  test("The lease of a worker passes to one of two waiting processes, and the other one ends.", async () => {
    await beginLease(postgres.query, leaseOf("killed", 5_000));
    const outcomes = await Promise.allSettled([waitWith("one"), waitWith("two")]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await sessions()).toEqual([outcomes[0]?.status === "fulfilled" ? "one" : "two"]);
  });
});
