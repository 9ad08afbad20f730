/** A time as its distance from now, which keeps up; the time itself is its title. */
import { useComputed } from "@preact/signals";
import { useNode } from "../data/node.ts";
import { relativeText } from "./format.ts";

export type TimeProps = {
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  /** Shows the time itself beside the distance. */
  readonly isWhole?: boolean;
  /** Of which clock: the chain's, or that of the machine, which a dev chain can leave. Default: the chain's. */
  readonly clock?: "chain" | "machine";
};

/** The node says its time in whole seconds: a block of now may seem to be of the future. */
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

/** Of one time: only this text changes with the clock, no component is rendered again. */
function Distance({ timeMs, clock }: Required<Pick<TimeProps, "timeMs" | "clock">>) {
  const { nowMs, clockOffsetMs } = useNode();
  const text = useComputed(() => {
    const readMs = clock === "chain" ? nowMs.value : nowMs.value - clockOffsetMs.value;
    const isAhead = timeMs > readMs && timeMs - readMs < UNCERTAINTY_MS;
    return relativeText(timeMs, isAhead ? timeMs : readMs);
  });
  return <>{text}</>;
}
