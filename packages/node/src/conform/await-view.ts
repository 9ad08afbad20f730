/** Waits until the view of a receiver is the expected one. */
import { setTimeout as sleep } from "node:timers/promises";
import { withoutControls } from "../platform/text/foreign.ts";
import type { DeliveryMessage } from "../webhooks/model/deliveries.ts";
import { ScenarioFailure } from "./failure.ts";
import { differenceOf, type Expectation, readView } from "./view.ts";

export type ViewOptions = {
  /** URL of the probe. */
  readonly probe: string;
  /** Timeout of one response of the probe. */
  readonly timeoutMs: number;
  /** Time in which the view must become the expected one. */
  readonly viewMs: number;
};

const SHOW_FACTS =
  "show the facts at the probe as docs/guides/conform.md describes it, or give its URL with --probe";

/** Pause before the view is read again. */
const POLL_MS = 50;

/**
 * Reads the view until it is the expected one: a receiver can respond before it has processed a delivery.
 *
 * @throws {ScenarioFailure} with the last difference after the time
 */
export async function awaitView(
  { probe, timeoutMs, viewMs }: ViewOptions,
  expectation: Expectation,
  signal: AbortSignal,
): Promise<void> {
  const endsMs = performance.now() + viewMs;
  const expected = expectedText(expectation.facts);
  for (;;) {
    const failure = await readView(probe, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])).then(
      (view) => {
        const difference = differenceOf(view, expectation);
        return difference === undefined ? undefined : new ScenarioFailure(expected, difference);
      },
      ({ message }: Error) => new ScenarioFailure(expected, withoutControls(message), SHOW_FACTS),
    );
    signal.throwIfAborted();
    if (failure === undefined) return;
    if (performance.now() >= endsMs) throw failure;
    await sleep(Math.min(POLL_MS, viewMs), undefined, { signal });
  }
}

/** Maximum of ids in a failure. */
const MAX_NAMED = 5;

function expectedText(facts: readonly DeliveryMessage[]): string {
  if (facts.length === 0) return "no fact of this scenario in its view";
  const ids = facts.slice(0, MAX_NAMED).map(({ id }) => id);
  const more = facts.length > ids.length ? ` and ${facts.length - ids.length} more` : "";
  return `its view to have once: ${ids.join(", ")}${more}`;
}
