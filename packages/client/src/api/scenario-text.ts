/** Formats a scenario as a file: one step on each line, so that reviews show changed steps. */
import type { DevRecording } from "./resources/dev.ts";

export const scenarioText = ({ name, steps }: Pick<DevRecording, "name" | "steps">): string =>
  `{
  "scenario": 1,
  "name": ${JSON.stringify(name)},
  "steps": [
${steps.map((step) => `    ${lineOf(step)}`).join(",\n")}
  ]
}
`;

/** Writes a value like `JSON.stringify`, with spaces between its parts. */
function lineOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(lineOf).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${lineOf(member)}`);
  return `{ ${members.join(", ")} }`;
}
