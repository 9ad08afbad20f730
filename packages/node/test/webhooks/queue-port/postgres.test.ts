/** Suites of the delivery queue, its intake and the register on PostgreSQL. */
import { describe } from "vitest";
import { useDatabases } from "../../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../../test-support/postgres/server.ts";
import { describeIntake } from "./intake-suite.ts";
import { openPostgresSubject } from "./postgres-subject.ts";
import { describeRegister } from "./register-suite.ts";
import { describeDeliveryQueue } from "./suite.ts";

describe.skipIf(!hasPostgres)("PostgreSQL", () => {
  const databases = useDatabases();
  const open = async () => openPostgresSubject(await databases.create());
  describeDeliveryQueue("PostgreSQL", open);
  describeIntake("PostgreSQL", open);
  describeRegister("PostgreSQL", open);
});
