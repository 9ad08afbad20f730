/** Balance of a wallet over time, as a chart and as a table. Only nodes with earlier states have it. */
import type { Balance } from "@uniknode/client";
import { useState } from "preact/hooks";
import { Amount, useSymbol } from "../../components/amount.tsx";
import { Plot } from "../../components/chart/plot.tsx";
import { amountText, countText } from "../../components/format.ts";
import { hrefOf } from "../../components/identifier.tsx";
import { useListState } from "../../components/list-state.ts";
import { PagedList } from "../../components/paged-list.tsx";
import { Empty } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { absoluteText, Time } from "../../components/time.tsx";
import { useNode } from "../../data/node.ts";
import { balanceCurve, pointAt } from "./balance-curve.ts";

/** Points of a chart. */
const LIMIT = 100;

export function Balances({ address }: { address: string }) {
  const { api, configuration } = useNode();
  const symbol = useSymbol();
  const columns: readonly Column<Balance>[] = [
    { title: "Block", cell: ({ height }) => <a href={hrefOf.block(`${height}`)}>{countText(height)}</a> },
    { title: "Time", cell: ({ timestamp }) => <Time timeMs={timestamp.unix * 1_000} /> },
    { title: `Balance ${symbol}`, cell: ({ balance }) => <Amount value={balance} />, isNumber: true },
  ];
  return (
    <PagedList
      name={`wallet ${address} balances`}
      list={() => api.wallets.history(address)}
      what="balances"
      limit={LIMIT}
      isSection
    >
      {(rows) => (
        <>
          {rows.length > 0 && <Chart rows={rows.toReversed()} />}
          <Table
            caption="Balances of the wallet"
            columns={columns}
            rows={rows}
            keyOf={({ height }) => height}
            empty={
              <Empty title={`No change since block ${countText(configuration.value?.history?.since ?? 1)}`} />
            }
          />
        </>
      )}
    </PagedList>
  );
}

/** @param rows oldest first */
function Chart({ rows }: { rows: readonly Balance[] }) {
  const [chosen, setChosen] = useState<number>();
  const { nowMs } = useNode();
  const { page } = useListState();
  const symbol = useSymbol();
  const points = rows.map(({ height, timestamp, balance }) => ({
    height,
    timeMs: timestamp.unix * 1_000,
    balance: BigInt(balance),
  }));
  const newest = rows.length - 1;
  const last = points[newest];
  const point = points[chosen ?? newest] ?? last;
  if (!point || !last) return null;
  // The first page ends now. The clock is not observed: the chart is drawn again after each block, not each second.
  const curve = balanceCurve(points, page === 1 ? Math.max(last.timeMs, nowMs.peek()) : last.timeMs);
  const { path, positions, timeTicks } = curve;
  const valueTicks = curve.valueTicks.map(amountText);
  return (
    <Plot
      title={`Balance in ${symbol}`}
      summary={`Balance from ${valueTicks.at(-1)} to ${valueTicks[0]} ${symbol}`}
      path={path}
      valueTicks={valueTicks}
      timeTicks={timeTicks.map(formatFor(timeTicks))}
      valueText={amountText(point.balance)}
      timeText={`block ${countText(point.height)}, ${absoluteText(point.timeMs)}`}
      mark={positions[chosen ?? -1]}
      slider={{
        label: "Block of the balance",
        chosen,
        newest,
        onChange: setChosen,
        pointAt: (part) => pointAt(curve, part),
      }}
    />
  );
}

const DAY_MS = 86_400_000;

/** Returns a format in which the times differ. */
const formatFor = ([first = 0, second = 0]: readonly number[]) =>
  new Intl.DateTimeFormat(
    undefined,
    second - first > DAY_MS ? { dateStyle: "medium" } : { timeStyle: "medium" },
  ).format;
