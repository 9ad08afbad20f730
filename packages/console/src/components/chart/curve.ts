/** Converts values over time to the path of a curve. */
import { HEIGHT, WIDTH } from "./size.ts";

export type Curve = {
  /** SVG path in an image of `WIDTH` and `HEIGHT`, with gaps for unknown values; empty without values. */
  readonly path: string;
  readonly lowest: number;
  readonly highest: number;
  /** Last known value. */
  readonly last: number;
};

/** Maximum number of samples that are dots. */
const FEW = 5;

/**
 * Creates the curve. The axis includes zero, so that small changes do not look large. Each column shows the maximum of
 * its samples. Few samples are dots: a line between them would show values that were not measured.
 *
 * @returns undefined if no value is known
 */
export function curveOf(values: readonly (number | null)[]): Curve | undefined {
  const known = values.filter((value) => value !== null);
  const last = known.at(-1);
  if (last === undefined) return undefined;
  const lowest = known.reduce((least, value) => Math.min(least, value));
  const highest = known.reduce((most, value) => Math.max(most, value));
  const bottom = Math.min(lowest, 0);
  const span = highest - bottom || 1;
  const columns = Math.min(values.length, WIDTH);
  let path = "";
  let isOpen = false;
  const isFew = known.length <= FEW;
  for (let column = 0; column < columns; column++) {
    const [from, to] = [column, column + 1].map((edge) => Math.floor((edge * values.length) / columns));
    const inside = values.slice(from, to).filter((value) => value !== null);
    if (inside.length > 0) {
      const x = (column * WIDTH) / (columns - 1 || 1);
      const y = HEIGHT - ((Math.max(...inside) - bottom) / span) * HEIGHT;
      const point = `${x.toFixed(1)} ${y.toFixed(1)}`;
      path += isOpen && !isFew ? `L${point}` : `M${point}h0`;
    }
    isOpen = inside.length > 0;
  }
  return { path, lowest, highest, last };
}
