/** Converts the balances of a wallet to a curve of steps, with the ticks of its axes. */
import { HEIGHT, WIDTH } from "../../components/chart/size.ts";

/** A balance in the smallest unit. */
export type BalancePoint = { readonly timeMs: number; readonly balance: bigint };

export type BalanceCurve = {
  /** SVG path in an image of `WIDTH` and `HEIGHT`. */
  readonly path: string;
  /** Positions of the points in parts of the image, from the start and from the top. */
  readonly positions: readonly { readonly x: number; readonly y: number }[];
  /** Balances at equal distances, from the top down. */
  readonly valueTicks: readonly bigint[];
  /** Times at equal distances. */
  readonly timeTicks: readonly number[];
};

/** Intended number of intervals between the ticks of balances. */
const INTERVALS = 4n;

/**
 * Creates the curve, which is constant from each point to the next one and from the last one to the end.
 *
 * @param points by time, at least one
 */
export function balanceCurve(points: readonly BalancePoint[], untilMs: number): BalanceCurve {
  const startMs = points[0]?.timeMs ?? untilMs;
  const spanMs = untilMs - startMs;
  const valueTicks = ticksOf(
    points.map(({ balance }) => balance).sort((one, other) => (one < other ? -1 : 1)),
  );
  const [top = 0n, bottom = 0n] = [valueTicks[0], valueTicks.at(-1)];
  const positions = points.map(({ timeMs, balance }) => ({
    x: spanMs > 0 ? (timeMs - startMs) / spanMs : 0,
    y: Number(top - balance) / Number(top - bottom),
  }));
  const steps = positions.map(({ x, y }) => `H${(x * WIDTH).toFixed(1)}V${(y * HEIGHT).toFixed(1)}`);
  return {
    path: `M0 ${((positions[0]?.y ?? 0) * HEIGHT).toFixed(1)}${steps.slice(1).join("")}H${WIDTH}`,
    positions,
    valueTicks,
    timeTicks: spanMs > 0 ? [startMs, startMs + spanMs / 2, untilMs] : [startMs],
  };
}

/** Returns the last point at or before a part of the width. */
export const pointAt = ({ positions }: BalanceCurve, part: number): number =>
  Math.max(
    0,
    positions.findLastIndex(({ x }) => x <= part),
  );

/** Returns round values around sorted ones, with zero if this does not flatten the curve. */
function ticksOf(values: readonly bigint[]): bigint[] {
  const [lowest = 0n, highest = 0n] = [values[0], values.at(-1)];
  const isFlat = highest > lowest && highest - lowest < lowest;
  const from = isFlat || lowest < 0n ? lowest : 0n;
  let step = 1n;
  // 1, 2, 5, 10, 20 ...
  while (step * INTERVALS < highest - from) step = `${step}`.startsWith("2") ? (step / 2n) * 5n : step * 2n;
  // The remainder of a negative value is negative.
  const bottom = from - (((from % step) + step) % step);
  const ticks = [bottom];
  for (let tick = bottom + step; ; tick += step) {
    ticks.unshift(tick);
    if (tick >= highest) return ticks;
  }
}
