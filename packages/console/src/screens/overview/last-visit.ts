/** The figures that the reader saw last, kept by the browser: the overview shows how much they have grown since. */
import { useEffect, useState } from "preact/hooks";

export type Seen = {
  readonly nethash: string;
  /** Time of the machine, milliseconds since 1970. */
  readonly timeMs: number;
  readonly height: number;
  readonly transactions: number;
  readonly uniks: number;
};

const KEY = "uniknode.seen";
/** A shorter absence belongs to the same visit. */
const MIN_ABSENCE_MS = 600_000;

/**
 * Returns what was seen before the last absence; undefined without one.
 *
 * @param now what is shown; undefined until it is complete
 */
export function useLastVisit(now: Omit<Seen, "timeMs"> | undefined): Seen | undefined {
  const [before, setBefore] = useState(seenBeforeAbsence);
  useEffect(() => {
    const onShown = () => {
      if (!document.hidden) setBefore((earlier) => seenBeforeAbsence() ?? earlier);
    };
    document.addEventListener("visibilitychange", onShown);
    return () => document.removeEventListener("visibilitychange", onShown);
  }, []);
  useEffect(() => {
    if (now && !document.hidden) keep({ ...now, timeMs: Date.now() });
  }, [now?.height, now?.transactions, now?.uniks]);
  return now && before?.nethash !== now.nethash ? undefined : before;
}

function seenBeforeAbsence(): Seen | undefined {
  try {
    const { nethash, timeMs, height, transactions, uniks } = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    const numbers = [timeMs, height, transactions, uniks];
    if (!numbers.every(Number.isSafeInteger) || Date.now() - timeMs < MIN_ABSENCE_MS) return undefined;
    return { nethash: `${nethash}`, timeMs, height, transactions, uniks };
  } catch {
    return undefined;
  }
}

function keep(seen: Seen): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(seen));
  } catch {
    // A browser without storage shows no growth.
  }
}
