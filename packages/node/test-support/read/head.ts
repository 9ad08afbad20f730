/** The head of a database, for queries outside a read model. */
import { present } from "../../src/platform/present.ts";
import type { Head } from "../../src/read/port.ts";
import type { Database } from "../../src/store/engine/database.ts";

const SELECT = "SELECT id_text AS id, height, timestamp FROM blocks ORDER BY height DESC LIMIT 1";

/** Returns a function that reads the last block. */
export const headOf = (database: Database) => (): Head =>
  present(database.prepare<Head>(SELECT).get(), "the last block");
