/** Frame of a chart: caption, axes with ticks, curve, and a slider that selects a point of the curve. */
import "./chart.css";
import { HEIGHT, WIDTH } from "./size.ts";

export type PlotProps = {
  readonly title: string;
  /** Describes the curve for screen readers. */
  readonly summary: string;
  /** SVG path in an image of `WIDTH` and `HEIGHT`. */
  readonly path: string;
  /** Texts at equal distances, from the top down and from the start on. */
  readonly valueTicks: readonly string[];
  readonly timeTicks: readonly string[];
  /** Value and time of the selected point, or of the last one. */
  readonly valueText: string;
  readonly timeText: string;
  /** Position of the selected point in parts of the image, from the start and from the top; `y` is absent for an unknown value. */
  readonly mark?: { readonly x: number; readonly y?: number | undefined } | undefined;
  readonly slider: SliderProps;
};

export function Plot(props: PlotProps) {
  const { title, summary, path, valueTicks, timeTicks, valueText, timeText, mark, slider } = props;
  return (
    <figure class="card chart" style={{ "--rows": valueTicks.length - 1 }}>
      <figcaption>
        <span class="quiet">{title}</span>
        <span>
          <strong>{valueText}</strong> <span class="quiet">{timeText}</span>
        </span>
      </figcaption>
      <div class="axis">{valueTicks.map(tick)}</div>
      <div class="plot">
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={summary}>
          <path d={path} />
        </svg>
        {mark && (
          <span
            class={mark.y === undefined ? "mark line" : "mark"}
            style={{ "--x": `${mark.x * 100}%`, "--y": `${(mark.y ?? 0) * 100}%` }}
          />
        )}
        <PointSlider {...slider} text={`${valueText}, ${timeText}`} />
      </div>
      <div class="axis times">{timeTicks.map(tick)}</div>
    </figure>
  );
}

// Ticks have no other identity: texts can be equal.
const tick = (text: string, index: number) => <span key={index}>{text}</span>;

export type SliderProps = {
  readonly label: string;
  /** Index of the selected point. */
  readonly chosen: number | undefined;
  readonly newest: number;
  readonly onChange: (point: number | undefined) => void;
  /** Returns the point at a part of the width. Default: the points have equal distances. */
  readonly pointAt?: (part: number) => number;
};

/** Invisible slider over the curve: the point follows the pointer. */
const PointSlider = ({
  label,
  text,
  chosen,
  newest,
  onChange,
  pointAt = (part) => Math.round(part * newest),
}: SliderProps & { readonly text: string }) => (
  <input
    type="range"
    min={0}
    max={newest}
    value={chosen ?? newest}
    aria-label={label}
    aria-valuetext={text}
    onInput={({ currentTarget }) => onChange(currentTarget.valueAsNumber)}
    onPointerMove={({ currentTarget, offsetX }) =>
      onChange(pointAt(Math.max(0, offsetX) / currentTarget.clientWidth))
    }
    onPointerLeave={() => onChange(undefined)}
    onBlur={() => onChange(undefined)}
  />
);
