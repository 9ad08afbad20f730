/** Migrations of a database by several processes that start at the same time. */
import { expect, test } from "vitest";
import { checkSchema, migrate } from "../../src/postgres/migrations.ts";
import { useDatabases } from "../../test-support/postgres/databases.ts";
import { connect, hasPostgres } from "../../test-support/postgres/server.ts";

const databases = useDatabases();

test.runIf(hasPostgres)("Mirrors that start with the same empty database all succeed.", async () => {
  for (let round = 0; round < 3; round++) {
    const url = await databases.create();
    const mirrors = Array.from({ length: 6 }, () => connect(url));
    await Promise.all(mirrors.map((mirror) => mirror.query("SELECT 1")));
    const outcomes = await Promise.allSettled(mirrors.map(migrate));
    expect(outcomes.map(({ status }) => status)).toEqual(mirrors.map(() => "fulfilled"));
    for (const mirror of mirrors) {
      await checkSchema(mirror);
      await mirror.close();
    }
  }
});
