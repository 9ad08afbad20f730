/** Relative time that updates itself; the absolute time is its title. */
import { useComputed } from "@preact/signals";
import { useNode } from "../data/node.ts";
import { relativeText } from "./format.ts";

export type TimeProps = {
  /** Time in milliseconds since 1970. */
  readonly timeMs: number;
  /** Also shows the absolute time. */
  readonly isWhole?: boolean;
  /** Clock of the chain (default) or of the machine; they differ on a dev chain after time travel. */
  readonly clock?: "chain" | "machine";
};

/** Tolerance, because the node returns whole seconds: a new block could appear to be in the future. */
const UNCERTAINTY_MS = 2_000;

const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
export const absoluteText = (timeMs: number): string => absolute.format(timeMs);

export function Time({ timeMs, isWhole = false, clock = "chain" }: TimeProps) {
  const time = absoluteText(timeMs);
  return (
    <time dateTime={new Date(timeMs).toISOString()} title={time}>
      {isWhole && `${time} · `}
      <Distance key={timeMs} timeMs={timeMs} clock={clock} />
    </time>
  );
}

/** Text of one time. Only this text changes with the clock; no component is rendered again. */
function Distance({ timeMs, clock }: Required<Pick<TimeProps, "timeMs" | "clock">>) {
  const { nowMs, clockOffsetMs } = useNode();
  const text = useComputed(() => {
    const readMs = clock === "chain" ? nowMs.value : nowMs.value - clockOffsetMs.value;
    const isAhead = timeMs > readMs && timeMs - readMs < UNCERTAINTY_MS;
    return relativeText(timeMs, isAhead ? timeMs : readMs);
  });
  return <>{text}</>;
}
