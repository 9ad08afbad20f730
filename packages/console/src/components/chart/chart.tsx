/** Chart of a figure over time; the pointer or arrow keys select a sample to show its value and time. */
import { useState } from "preact/hooks";
import { clockText, durationText } from "../format.ts";
import { curveOf } from "./curve.ts";
import { Plot } from "./plot.tsx";

export type ChartProps = {
  readonly title: string;
  readonly text: (value: number) => string;
  /** Time of each value in seconds since 1970. */
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
  /** Text of a time in milliseconds. Default: the time of day. */
  readonly timeText?: (timeMs: number) => string;
  /** Value of the whole period, shown while no sample is selected. Default: the last value. */
  readonly whole?: { readonly value: number; readonly period: string };
};

/** Renders nothing if no value is known. */
export function Chart({ title, text, times, values, timeText = clockText, whole }: ChartProps) {
  const [chosen, setChosen] = useState<number>();
  const curve = curveOf(values);
  const [first] = times;
  const last = times.at(-1);
  if (!curve || first === undefined || last === undefined) return null;
  const { path, lowest, highest } = curve;
  const bottom = Math.min(lowest, 0);
  const newest = times.length - 1;
  const at = chosen === undefined ? undefined : Math.min(chosen, newest);
  const value = at === undefined ? (whole?.value ?? curve.last) : values[at];
  const isKnown = typeof value === "number";
  return (
    <Plot
      title={title}
      summary={`${title} over ${durationText(last - first)}: ${text(lowest)} to ${text(highest)}`}
      path={path}
      valueTicks={[...new Set([text(highest), text(bottom)])]}
      timeTicks={[...new Set([timeText(first * 1_000), timeText(last * 1_000)])]}
      valueText={isKnown ? text(value) : "unknown"}
      timeText={at === undefined ? (whole?.period ?? "now") : timeText((times[at] ?? last) * 1_000)}
      mark={
        at === undefined
          ? undefined
          : {
              x: at / (newest || 1),
              y: isKnown ? 1 - (value - bottom) / (highest - bottom || 1) : undefined,
            }
      }
      slider={{ label: `Sample of ${title}`, chosen: at, newest, onChange: setChosen }}
    />
  );
}
