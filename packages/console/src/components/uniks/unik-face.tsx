/** Picture of a unik: a pattern and a colour that follow from its id. */

const SIZE = 5;
const HALF = 3;

/** Returns the squares of the pattern, which is the same from the left and from the right. */
function patternOf(id: string): string {
  let path = "";
  for (let y = 0; y < SIZE; y++)
    for (let x = 0; x < HALF; x++)
      if (Number.parseInt(id.charAt(y * HALF + x), 16) % 2 === 0)
        for (const column of new Set([x, SIZE - 1 - x])) path += `M${column} ${y}h1v1h-1z`;
  return path;
}

/** Decorative: the name or the id is next to it. */
export const UnikFace = ({ id }: { id: string }) => (
  <svg class="face" viewBox="-1 -1 7 7" shape-rendering="crispEdges" aria-hidden="true">
    <path fill={`oklch(0.6 0.13 ${Number.parseInt(id.slice(-3), 16) % 360})`} d={patternOf(id)} />
  </svg>
);
