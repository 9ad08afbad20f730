/** Chart of a metric over time; the pointer or arrow keys select a sample to show its value and time. */
import { useState } from "preact/hooks";
import { clockText, durationText } from "../../components/format.ts";
import { curveOf, HEIGHT, WIDTH } from "./curve.ts";

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
  const valueText = value === null || value === undefined ? "unknown" : text(value);
  const timeText = at === undefined ? "now" : clockText((times[at] ?? last) * 1_000);
  const span = durationText(last - first);
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
        <SampleSlider
          label={`Sample of ${title}`}
          text={`${valueText}, ${timeText}`}
          chosen={at}
          newest={newest}
          onChange={setChosen}
        />
      </div>
      <div class="axis times">
        <span>{clockText(first * 1_000)}</span>
        <span>{clockText(last * 1_000)}</span>
      </div>
    </figure>
  );
}

type SampleSliderProps = {
  readonly label: string;
  /** Value and time of the chosen sample, for screen readers. */
  readonly text: string;
  readonly chosen: number | undefined;
  readonly newest: number;
  readonly onChange: (sample: number | undefined) => void;
};

/** Invisible slider over the curve: the sample follows the pointer. */
const SampleSlider = ({ label, text, chosen, newest, onChange }: SampleSliderProps) => (
  <input
    type="range"
    min={0}
    max={newest}
    value={chosen ?? newest}
    aria-label={label}
    aria-valuetext={text}
    onInput={({ currentTarget }) => onChange(currentTarget.valueAsNumber)}
    onPointerMove={({ currentTarget, offsetX }) =>
      onChange(Math.round((Math.max(0, offsetX) / currentTarget.clientWidth) * newest))
    }
    onPointerLeave={() => onChange(undefined)}
    onBlur={() => onChange(undefined)}
  />
);
