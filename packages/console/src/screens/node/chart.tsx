/** Chart of a metric over time; the pointer or arrow keys select a sample to show its value and time. */
import { useState } from "preact/hooks";
import { durationText } from "../../components/format.ts";
import { curveOf, HEIGHT, WIDTH } from "./curve.ts";

export type ChartProps = {
  readonly title: string;
  readonly text: (value: number) => string;
  /** Time of each value in seconds since 1970. */
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
};

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const clockText = (seconds: number): string => clock.format(seconds * 1_000);

/** Renders nothing if no value is known. */
export function Chart({ title, text, times, values }: ChartProps) {
  const [chosen, setChosen] = useState<number>();
  const curve = curveOf(values);
  if (!curve) return null;
  const { path, lowest, highest, last } = curve;
  const bottom = Math.min(lowest, 0);
  const newest = times.length - 1;
  const at = chosen === undefined ? undefined : Math.min(chosen, newest);
  const value = at === undefined ? last : values[at];
  const valueText = value === null || value === undefined ? "unknown" : text(value);
  const timeText = at === undefined ? "now" : clockText(times[at]!);
  const span = durationText(times[newest]! - times[0]!);
  return (
    <figure class="card chart">
      <figcaption>
        <span class="quiet">{title}</span>
        <span>
          <strong>{valueText}</strong> <span class="quiet">{timeText}</span>
        </span>
      </figcaption>
      <div class="axis">
        <span>{text(highest)}</span>
        {highest > bottom && <span>{text(bottom)}</span>}
      </div>
      <div class="plot">
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title} over ${span}: ${text(lowest)} to ${text(highest)}`}
        >
          <path d={path} />
        </svg>
        {at !== undefined && (
          <span
            class={typeof value === "number" ? "mark" : "mark line"}
            style={{
              "--x": `${newest === 0 ? 100 : (at / newest) * 100}%`,
              "--y": `${(1 - ((value ?? 0) - bottom) / (highest - bottom || 1)) * 100}%`,
            }}
          />
        )}
        <input
          type="range"
          min={0}
          max={newest}
          value={at ?? newest}
          aria-label={`Sample of ${title}`}
          aria-valuetext={`${valueText}, ${timeText}`}
          onInput={({ currentTarget }) => setChosen(currentTarget.valueAsNumber)}
          onPointerMove={({ currentTarget, offsetX }) =>
            setChosen(Math.round((Math.max(0, offsetX) / currentTarget.clientWidth) * newest))
          }
          onPointerLeave={() => setChosen(undefined)}
          onBlur={() => setChosen(undefined)}
        />
      </div>
      <div class="axis times">
        <span>{clockText(times[0]!)}</span>
        <span>{clockText(times[newest]!)}</span>
      </div>
    </figure>
  );
}
