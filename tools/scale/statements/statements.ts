/**
 * The SQL that mirrors, API servers, delivery workers and hand-overs send to PostgreSQL, collected from their sources: whole
 * statements, and parts of statements that others contain.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { literalsIn } from "./literals.ts";

export type Statement = {
  /** Path below the sources of the node. */
  readonly file: string;
  /** With single spaces; `...` stands for a part or a value that the program inserts. */
  readonly sql: string;
  /** False for a part of a statement. */
  readonly isWhole: boolean;
};

const SOURCES = join(import.meta.dirname, "../../../packages/node/src");

/** Files that talk to PostgreSQL. `doctor` only inspects the server. */
const IS_POSTGRES =
  /(?:^|\/)postgres\/.*\.(?:ts|sql)$|^mirror\/.*\.ts$|^processes\/(?:mirror|serve|deliver|hand-over)\/.*\.ts$/;

/** SQL is in capitals. */
const BEGINNING =
  /^\(?(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|COPY|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|LOCK TABLE|CREATE|ALTER TABLE|ANALYZE|SET LOCAL|DECLARE|FETCH|TRUNCATE)\b/;
const PART =
  /\b(?:FROM|WHERE|JOIN|RETURNING|ON CONFLICT|ORDER BY|SET LOCAL|REPEATABLE READ|FOR (?:UPDATE|NO KEY UPDATE|SHARE|KEY SHARE))\b|^(?:NO KEY UPDATE|SHARE)$/;

export function readStatements(): Statement[] {
  return readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .filter((path) => IS_POSTGRES.test(path))
    .sort()
    .flatMap((file) => statementsIn(file, readFileSync(join(SOURCES, file), "utf8")));
}

export const statementsIn = (file: string, source: string): Statement[] =>
  textsIn(file, source)
    .map((text) => text.replace(/\s+/g, " ").trim())
    .filter((sql) => BEGINNING.test(sql) || PART.test(sql))
    .map((sql) => ({ file, sql, isWhole: BEGINNING.test(sql) }));

const textsIn = (file: string, source: string): string[] =>
  file.endsWith(".sql") ? source.replace(/--.*$/gm, "").split(/;\s*$/m) : literalsIn(source);
