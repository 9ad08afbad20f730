/** The recorded responses, served over a mirror in PostgreSQL. */
import { describe } from "vitest";
import { openMirrorInOwnServer } from "../../../test-support/parity/read-models.ts";
import { hasPostgres } from "../../../test-support/postgres/server.ts";
import { testParity } from "./suite.ts";

describe.skipIf(!hasPostgres)("PostgreSQL", () => testParity(openMirrorInOwnServer));
