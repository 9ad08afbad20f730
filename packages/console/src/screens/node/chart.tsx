/** Chart of a metric over time; the pointer or arrow keys select a sample to show its value and time. */
import { useState } from "preact/hooks";
import { Plot } from "../../components/chart/plot.tsx";
import { clockText, durationText } from "../../components/format.ts";
import { curveOf } from "./curve.ts";

export type ChartProps = {
  readonly title: string;
  readonly text: (value: number) => string;
  /** Time of each value in seconds since 1970. */
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
};

/** Renders nothing if no value is known. */
export function Chart({ title, text, times, values }: ChartProps) {
  const [chosen, setChosen] = useState<number>();
  const curve = curveOf(values);
  const [first] = times;
  const last = times.at(-1);
  if (!curve || first === undefined || last === undefined) return null;
  const { path, lowest, highest } = curve;
  const bottom = Math.min(lowest, 0);
  const newest = times.length - 1;
  const at = chosen === undefined ? undefined : Math.min(chosen, newest);
  const value = at === undefined ? curve.last : values[at];
  const isKnown = typeof value === "number";
  return (
    <Plot
      title={title}
      summary={`${title} over ${durationText(last - first)}: ${text(lowest)} to ${text(highest)}`}
      path={path}
      valueTicks={highest > bottom ? [text(highest), text(bottom)] : [text(highest)]}
      timeTicks={[clockText(first * 1_000), clockText(last * 1_000)]}
      valueText={isKnown ? text(value) : "unknown"}
      timeText={at === undefined ? "now" : clockText((times[at] ?? last) * 1_000)}
      mark={
        at === undefined
          ? undefined
          : {
              x: newest === 0 ? 1 : at / newest,
              y: isKnown ? 1 - (value - bottom) / (highest - bottom || 1) : undefined,
            }
      }
      slider={{ label: `Sample of ${title}`, chosen: at, newest, onChange: setChosen }}
    />
  );
}
