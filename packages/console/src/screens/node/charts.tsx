/** Figures of the last hours, which the node keeps itself. */
import type { NodeSeries } from "@uniknode/client";
import { bytesText, countText, durationText } from "../../components/format.ts";
import { Section } from "../../components/page.tsx";
import { Answered } from "../../components/states.tsx";
import { useAnswer, useNode } from "../../data/node.ts";
import { curveOf, HEIGHT, WIDTH } from "./curve.ts";

type Chart = { readonly figure: string; readonly title: string; readonly text: (value: number) => string };

const count = (value: number): string => countText(Math.round(value * 10) / 10);
const rate = (value: number): string => `${count(value)} /s`;
const bytesRate = (value: number): string => `${bytesText(value)} /s`;

const CHARTS: readonly Chart[] = [
  { figure: "headAgeSeconds", title: "Age of the head", text: durationText },
  { figure: "blocksBehind", title: "Blocks behind the network", text: count },
  { figure: "transactionsPerSecond", title: "Transactions", text: rate },
  { figure: "poolTransactions", title: "Pending transactions", text: count },
  { figure: "slotsMissed", title: "Missed slots", text: count },
  { figure: "peers", title: "Peers", text: count },
  { figure: "receivedBytesPerSecond", title: "Received from peers", text: bytesRate },
  { figure: "sentBytesPerSecond", title: "Sent to peers", text: bytesRate },
  { figure: "deliveriesPerSecond", title: "Deliveries of webhooks", text: rate },
  { figure: "deliveriesWaiting", title: "Deliveries that wait", text: count },
  { figure: "processorShare", title: "Processors in use", text: count },
  { figure: "residentBytes", title: "Memory", text: bytesText },
];

const REFRESH_MS = 30_000;

export function Charts() {
  const { operations } = useNode();
  const answer = useAnswer("node series", () => operations.operations.series(), {
    lasts: "session",
    everyMs: REFRESH_MS,
  });
  return (
    <Section title="The last hours">
      <Answered answer={answer} what="The figures of the last hours">
        {({ data }) => <Curves series={data} />}
      </Answered>
    </Section>
  );
}

function Curves({ series: { times, intervalSeconds, figures } }: { series: NodeSeries }) {
  const shown = CHARTS.flatMap((chart) => {
    const values = figures[chart.figure] ?? [];
    // The first sample of the head's age is the time since the node was stopped, and would dwarf the others.
    const curve = curveOf(chart.figure === "headAgeSeconds" ? values.slice(1) : values);
    return curve ? [{ ...chart, curve }] : [];
  });
  if (shown.length === 0) {
    return <p class="quiet">The first figures are there after {durationText(intervalSeconds)}.</p>;
  }
  const span = durationText(times.at(-1)! - times[0]!);
  return (
    <div class="charts">
      {shown.map(({ figure, title, text, curve: { path, lowest, highest, last } }) => (
        <figure key={figure} class="card">
          <figcaption>
            <span class="quiet">{title}</span> <strong>{text(last)}</strong>
          </figcaption>
          <svg
            viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={`${title} over ${span}: ${text(lowest)} to ${text(highest)}`}
          >
            <path d={path} />
          </svg>
          <span class="quiet">
            {text(lowest)} to {text(highest)} in {span}
          </span>
        </figure>
      ))}
    </div>
  );
}
