/** `npm run scale -- --statements`: the SQL in use, with the properties that matter for distributed databases. */
import { tableOf } from "../tables.ts";
import { featuresOf } from "./features.ts";
import { readStatements } from "./statements.ts";

export function statementLines(): string[] {
  const statements = readStatements();
  const whole = statements.filter(({ isWhole }) => isWhole).length;
  const rows = statements.map((statement) => [
    statement.file,
    featuresOf(statement).join(", "),
    statement.sql,
  ]);
  return [
    `${whole} statements, and ${statements.length - whole} parts of statements.`,
    "",
    ...tableOf([["file", "properties", "statement"], ...rows]),
  ];
}
