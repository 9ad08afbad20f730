/** The records of the state as a response of the feed (docs/spec/feed.md 2). */
import { endLine, stateLine } from "./line.ts";
import type { StateRows } from "./state-rows.ts";

/** @param maxMs time limit for all rows */
export async function* stateText(openState: () => StateRows, maxMs: number): AsyncIterable<string> {
  const rows = openState();
  const endMs = performance.now() + maxMs;
  try {
    if (!rows.position) return;
    yield stateLine(rows.position);
    let count = 0;
    for (const part of rows.lines) {
      // Without the last line, the mirror knows that rows are missing.
      if (performance.now() > endMs) return;
      count += part.count;
      yield part.line;
    }
    yield endLine(count);
  } finally {
    rows.close();
  }
}
