/** Prints a simulation next to the model. */
import { amount, percent, tableOf } from "../tables.ts";
import type { Simulated } from "./simulate.ts";
import type { Stage } from "./stage.ts";

export function reportLines({ reads, writes }: Simulated): string[] {
  const { stages, deliveredP50Ms, deliveredP99Ms, grouped } = writes;
  return [
    ...tableOf([
      ["simulated", "number", "model", "simulated", "wait p50 ms", "wait p99 ms", "waiting at the end", ""],
      ...[...reads, ...stages].filter(({ servers }) => servers > 0).map(row),
    ]),
    "",
    `From a block to the recorded outcome of a delivery: median ${amount(deliveredP50Ms)} ms, p99 ${amount(deliveredP99Ms)} ms.` +
      (grouped > 1 ? ` Calls were simulated in groups of ${amount(grouped)}.` : ""),
  ];
}

const row = ({
  name,
  servers,
  modelShare,
  simulatedShare,
  waitP50Ms,
  waitP99Ms,
  waiting,
}: Stage): string[] => [
  name,
  amount(servers),
  percent(modelShare),
  percent(simulatedShare),
  amount(waitP50Ms),
  amount(waitP99Ms),
  amount(waiting),
  modelShare >= 1 ? "saturated" : "",
];
