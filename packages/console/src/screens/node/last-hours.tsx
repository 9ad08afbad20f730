/** Charts of the last hours, from samples of the node. */
import type { NodeSeries } from "@uniknode/client";
import { Chart } from "../../components/chart/chart.tsx";
import { bytesText, clockText, countText, durationText } from "../../components/format.ts";
import { Section } from "../../components/page.tsx";
import { ResponseView } from "../../components/states.tsx";
import { useNode, useResponse } from "../../data/node.ts";

type Shown = { readonly figure: string; readonly title: string; readonly text: (value: number) => string };

const count = (value: number): string => countText(Math.round(value * 10) / 10);
const rate = (value: number): string => `${count(value)} /s`;
const bytesRate = (value: number): string => `${bytesText(value)} /s`;

const CHARTS: readonly Shown[] = [
  { figure: "headAgeSeconds", title: "Age of the head", text: durationText },
  { figure: "blocksBehind", title: "Blocks behind the network", text: count },
  { figure: "transactionsPerSecond", title: "Transactions", text: rate },
  { figure: "poolTransactions", title: "Pending transactions", text: count },
  { figure: "slotsMissed", title: "Missed slots", text: count },
  { figure: "peers", title: "Peers", text: count },
  { figure: "receivedBytesPerSecond", title: "Received from peers", text: bytesRate },
  { figure: "sentBytesPerSecond", title: "Sent to peers", text: bytesRate },
  { figure: "deliveriesPerSecond", title: "Webhook deliveries", text: rate },
  { figure: "deliveriesWaiting", title: "Waiting deliveries", text: count },
  { figure: "processorShare", title: "Processors in use", text: count },
  { figure: "residentBytes", title: "Memory", text: bytesText },
];

const REFRESH_MS = 30_000;

export function LastHours() {
  const { operations } = useNode();
  const response = useResponse("node series", () => operations.operations.series(), {
    lasts: "session",
    everyMs: REFRESH_MS,
  });
  return (
    <Section title="The last hours">
      <ResponseView response={response} what="The figures of the last hours">
        {({ data }) => <Curves series={data} />}
      </ResponseView>
    </Section>
  );
}

function Curves({ series: { times, intervalSeconds, figures } }: { series: NodeSeries }) {
  const shown = CHARTS.filter(({ figure }) => figures[figure]?.some((value) => value !== null));
  if (shown.length === 0) {
    return <p class="quiet">The first values appear after {durationText(intervalSeconds)}.</p>;
  }
  return (
    <div class="charts">
      {shown.map(({ figure, title, text }) => {
        // The first sample of the head's age includes the time before the start, and would dwarf the others.
        const from = figure === "headAgeSeconds" ? 1 : 0;
        const values = figures[figure] ?? [];
        return (
          <Chart
            key={figure}
            title={title}
            text={text}
            times={times.slice(from)}
            values={values.slice(from)}
            // Each sample counts the slots since the one before it.
            {...(figure === "slotsMissed" && {
              whole: {
                value: values.reduce<number>((sum, value) => sum + (value ?? 0), 0),
                period: `since ${clockText((times[0] ?? 0) * 1_000)}`,
              },
            })}
          />
        );
      })}
    </div>
  );
}
