/** The owner of the webhooks, as an API server reads it for each request, and what it logs if it cannot read. */
import type { Logger } from "pino";
import { expect, test } from "vitest";
import { PostgresError } from "../../src/postgres/postgres-error.ts";
import { LoggedReadModel } from "../../src/processes/serve/serve.ts";
import { createIsOwned } from "../../src/processes/serve/webhooks.ts";
import { type ReadModel, SnapshotError } from "../../src/read/port.ts";
import type { Owner, OwnerState } from "../../src/webhooks/hand-over/owner.ts";

const WORKERS: Owner = { state: "workers", transfer: "1" };
const NODE: Owner = { state: "node", transfer: "2" };

test("Concurrent requests share one read, and later ones read again.", async () => {
  const reads: PromiseWithResolvers<Owner>[] = [];
  const isOwned = createIsOwned(() => {
    const read = Promise.withResolvers<Owner>();
    reads.push(read);
    return read.promise;
  });
  const concurrent = Array.from({ length: 100 }, () => isOwned());
  expect(reads.length).toBe(1);
  reads[0]?.resolve(WORKERS);
  expect(new Set(await Promise.all(concurrent))).toEqual(new Set([true]));
  const later = isOwned();
  expect(reads.length).toBe(2);
  reads[1]?.resolve(NODE);
  expect(await later).toBe(false);
});

test("The last known owner counts while the database cannot be read.", async () => {
  let owner: () => Promise<Owner> = () => Promise.reject(new PostgresError("POSTGRES_UNREACHABLE"));
  const isOwned = createIsOwned(() => owner());
  expect(await isOwned()).toBe(false);
  owner = async () => WORKERS;
  expect(await isOwned()).toBe(true);
  owner = () => Promise.reject(new PostgresError("POSTGRES_UNREACHABLE"));
  expect(await isOwned()).toBe(true);
  owner = () =>
    Promise.reject(Object.assign(new Error("no such table"), { code: "42P01", severity: "ERROR" }));
  await expect(isOwned()).rejects.toThrow("no such table");
});

test.each<[OwnerState, boolean]>([
  ["node", false],
  ["to workers", false],
  ["workers", true],
  // The node may still name the workers as the owner: this server says that a hand-over runs.
  ["to node", true],
])('In the state "%s", requests are not forwarded: %s', async (state, isOwned) => {
  expect(await createIsOwned(async () => ({ state, transfer: "1" }))()).toBe(isOwned);
});

test("An outage of the database is logged when it begins and when it ends, and not for each request.", async () => {
  const logged: string[] = [];
  const logger = {
    warn: (_details: object, message: string) => void logged.push(message),
    info: (message: string) => void logged.push(message),
  } as unknown as Logger;
  let failure: Error | undefined;
  const read = async () => {
    if (failure) throw failure;
  };
  const model = new LoggedReadModel({ head: read, snapshot: read } as unknown as ReadModel, logger);
  await model.head();
  failure = new Error("a defect");
  await expect(model.head()).rejects.toThrow("a defect");
  expect(logged).toEqual([]);
  failure = new SnapshotError("SNAPSHOT_UNREACHABLE");
  for (let request = 0; request < 3; request++) await expect(model.head()).rejects.toThrow(failure);
  expect(logged).toEqual([failure.message]);
  failure = undefined;
  for (let request = 0; request < 3; request++) await model.head();
  expect(logged.slice(1)).toEqual(["reads from the database succeed again"]);
});
