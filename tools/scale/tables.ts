/** Prints a plan as tables. */
import type { Group } from "./model/groups.ts";
import type { Limit } from "./model/limits.ts";
import type { Plan } from "./model/plan.ts";

/** Formats rows; the first row is the head, and numbers are aligned on the right. */
export function tableOf(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        const isText = column === 0 || column === row.length - 1 || !/\d/.test(rows[1]?.[column] ?? "");
        return isText ? cell.padEnd(width) : cell.padStart(width);
      })
      .join("  ")
      .trimEnd(),
  );
}

export const amount = (value: number): string =>
  value.toLocaleString("en", value >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 2 });
export const percent = (share: number): string => `${amount(100 * share)} %`;

const NAMES: Readonly<Record<Group["kind"], string>> = {
  node: "node",
  mirror: "mirror, and one on standby",
  primary: "PostgreSQL, primary",
  replica: "PostgreSQL, replicas",
  server: "API servers",
  worker: "delivery workers",
};

const groupRow = (group: Group): string[] => [
  NAMES[group.kind],
  amount(group.processes),
  group.machines === 0 && group.processes > 0 ? "beside" : amount(group.machines),
  amount(group.cores),
  percent(group.share),
  group.memoryMb === 0 ? "-" : amount(group.memoryMb),
  group.diskGb === 0 ? "-" : amount(group.diskGb),
  amount(group.sentMbit),
  amount(group.connections),
];

const limitRow = ({ name, used, available, unit, share, remedy }: Limit): string[] => [
  name,
  amount(used),
  amount(available),
  unit,
  percent(share),
  share > 1 ? remedy : "",
];

export function linesOf({ inputs, demand, disks, catchUp, groups, limits }: Plan): string[] {
  return [
    `Demand: ${amount(demand.resources + demand.pages)} requests/s in the busiest minute, ${amount(demand.transfers)} transactions/s, ` +
      `${amount(demand.calls)} calls of receivers/s on average.`,
    `Stored after ${inputs.years} years: ${amount(inputs.blocksPerYear * inputs.years)} blocks, ` +
      `${amount(inputs.blocksPerYear * inputs.years * inputs.transfersPerBlock)} transactions, ${amount(disks.facts)} facts, ` +
      `${amount(disks.loggedDeliveries)} deliveries in the log, which are those of ${duration(disks.loggedDays)}.`,
    `Time for all blocks by then: ${amount(catchUp.nodeHours)} hours for a new node, ${amount(catchUp.mirrorHours)} hours for a new mirror.`,
    "",
    ...tableOf([
      [
        "processes",
        "number",
        "machines",
        "cores",
        "CPU share",
        "MB each",
        "GB each",
        "Mbit/s sent",
        "sockets each",
      ],
      ...groups.map(groupRow),
    ]),
    "",
    ...tableOf([["limit", "used", "available", "unit", "share", "what to do"], ...limits.map(limitRow)]),
    "",
    conclusionOf(limits),
  ];
}

const HOURS = 24;
const MINUTES = 60;

/** Formats a number of days in the largest unit of which it has at least two. */
function duration(days: number): string {
  if (days >= 2) return `${amount(days)} days`;
  return days * HOURS >= 2 ? `${amount(days * HOURS)} hours` : `${amount(days * HOURS * MINUTES)} minutes`;
}

function conclusionOf([first]: readonly Limit[]): string {
  if (!first || first.share === 0) return "No limit is used.";
  if (first.share > 1) return `Exceeded first: ${first.name}. What to do: ${first.remedy}.`;
  return `The first limit is "${first.name}", at ${amount(1 / first.share)} times this load. What to do then: ${first.remedy}.`;
}
