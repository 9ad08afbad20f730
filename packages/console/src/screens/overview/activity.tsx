/** Charts of transactions, fees, block time and missed slots over hours or days, from the database of the node. */
import type { Activity } from "@uniknode/client";
import { Chart } from "../../components/chart/chart.tsx";
import { amountText, clockText, countText } from "../../components/format.ts";
import { Section } from "../../components/page.tsx";
import { ResponseView } from "../../components/states.tsx";
import { UrlTabs } from "../../components/url-tabs.tsx";
import { useNode, useResponse } from "../../data/node.ts";

const HOUR = { id: "hour", title: "1 hour", hours: 1 };
const DAY = { id: "day", title: "24 hours", hours: 24 };
const MONTH = { id: "month", title: "30 days", hours: 720 };
type Span = typeof DAY;

const REFRESH_MS = 30_000;

const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit" });

export default function ActivityCharts() {
  // A dev chain is rarely older than some hours.
  const { devChain } = useNode().session.state.value ?? {};
  const spans = devChain ? [HOUR, DAY] : [DAY, MONTH];
  return (
    <Section title="Activity">
      <UrlTabs label="Time that the charts show" parameter="span" tabs={spans}>
        {(selected) => <Charts key={selected} span={spans.find(({ id }) => id === selected) ?? DAY} />}
      </UrlTabs>
    </Section>
  );
}

function Charts({ span }: { span: Span }) {
  const { api, configuration } = useNode();
  const response = useResponse(`activity ${span.id}`, () => api.blockchain.activity({ hours: span.hours }), {
    lasts: "session",
    everyMs: REFRESH_MS,
  });
  const { blocktime = 1 } = configuration.value?.constants ?? {};
  return (
    <ResponseView response={response} what="The activity" lines={4}>
      {({ data }) => <Curves activity={data} span={span} blocktime={blocktime} />}
    </ResponseView>
  );
}

type CurvesProps = { readonly activity: Activity; readonly span: Span; readonly blocktime: number };

function Curves({ activity, span, blocktime }: CurvesProps) {
  const { configuration } = useNode();
  const { blocks, missedSlots, transactions, fees } = activity;
  // Before its first slot, the chain did not exist.
  const from = blocks.findIndex((count, index) => count + (missedSlots[index] ?? 0) > 0);
  const shown = <Value,>(values: readonly Value[]): readonly Value[] => values.slice(from);
  const blockTimes = blocks.map((count, index) =>
    count === 0 ? null : ((count + (missedSlots[index] ?? 0)) * blocktime) / count,
  );
  const timeText = span === MONTH ? day.format : clockText;
  const common = { times: shown(activity.times), timeText };
  const period = from > 0 ? `since ${timeText((activity.times[from] ?? 0) * 1_000)}` : `in ${span.title}`;
  const seconds = (value: number) => `${countText(Math.round(value * 100) / 100)} s`;
  const coins = (value: number) =>
    `${amountText(BigInt(Math.round(value)))} ${configuration.value?.symbol ?? ""}`;
  const paid = fees?.map(Number);
  const slots = sumOf(blocks) + sumOf(missedSlots);
  return (
    <div class="charts">
      <Chart
        {...common}
        title="Transactions"
        text={countText}
        values={shown(transactions)}
        whole={{ value: sumOf(transactions), period }}
      />
      {paid && (
        <Chart
          {...common}
          title="Fees"
          text={coins}
          values={shown(paid)}
          whole={{ value: sumOf(paid), period }}
        />
      )}
      <Chart
        {...common}
        title="Time per block"
        text={seconds}
        values={shown(blockTimes)}
        whole={{ value: (slots * blocktime) / Math.max(sumOf(blocks), 1), period: "on average" }}
      />
      <Chart
        {...common}
        title="Missed slots"
        text={countText}
        values={shown(missedSlots)}
        whole={{ value: sumOf(missedSlots), period }}
      />
    </div>
  );
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
