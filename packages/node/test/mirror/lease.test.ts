/** The lease of a mirror after a crash of the database, which loses commits that did not wait for the disk. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { readHead, renewLease, takeLease } from "../../src/mirror/head.ts";
import { Postgres } from "../../src/postgres/connection.ts";
import { migrate } from "../../src/postgres/migrations.ts";
import {
  connect,
  hasPostgres,
  type PostgresServer,
  startPostgres,
} from "../../test-support/postgres/server.ts";

let server: PostgresServer;
let postgres: Postgres;

beforeAll(async () => {
  if (!hasPostgres) return;
  server = await startPostgres({ wal_writer_delay: "10s" });
  const url = await server.createDatabase("test");
  const installer = connect(url);
  await migrate(installer);
  await installer.close();
  postgres = new Postgres({
    ...{ url, applicationName: "test", maxConnections: 2, statementTimeoutMs: 30_000 },
    ...{ isCommitAsynchronous: true, onConnectionLost: () => {} },
  });
});
afterAll(async () => {
  await postgres?.close();
  await server?.stop();
});

test.runIf(hasPostgres)(
  "A mirror is replaced by the next one with its name once, and its process ends.",
  async () => {
    const take = (epoch?: number, owner = "same") => takeLease(postgres, { nethash: "test", owner, epoch });
    const first = await take();
    const second = await take();
    expect(second?.epoch).toBe(Number(first?.epoch) + 1);
    await expect(take(first?.epoch)).rejects.toMatchObject({
      code: "MIRROR_REPLACED",
      message: expect.stringContaining("--name"),
    });
    // A database that has lost the last epochs has the former one of the process.
    await postgres.query("UPDATE head SET epoch = epoch - 1");
    expect(await take(second?.epoch)).toMatchObject({ epoch: second?.epoch });
    // The second one continues after a failure; a mirror with another name stands by.
    const continued = await take(second?.epoch);
    expect(continued?.epoch).toBe(Number(second?.epoch) + 1);
    expect(await take(undefined, "other")).toBeUndefined();
    expect(await take(first?.epoch, "other")).toBeUndefined();
    await postgres.query("DELETE FROM head");
  },
);

test.runIf(hasPostgres)("No crash gives the epoch of a mirror to another one.", async () => {
  const take = (owner: string) => takeLease(postgres, { nethash: "test", owner });
  for (const owner of ["one", "two", "three"]) {
    const head = await take(owner);
    expect(head).toMatchObject({ epoch: ["one", "two", "three"].indexOf(owner) + 1 });
    await server.crash();
    expect(await readHead(postgres)).toEqual(head);
    await postgres.query("UPDATE head SET lease_until = now() - interval '1 s'");
  }
  await expect(renewLease(postgres, 2)).rejects.toMatchObject({ code: "MIRROR_DEPOSED" });
});
