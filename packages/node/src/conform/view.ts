/** The view of a receiver: the facts that its probe shows, and their comparison with the expected ones. */
import { setTimeout as sleep } from "node:timers/promises";
import { CodedError } from "../platform/coded-error.ts";
import { parseExternal, type TextBounds } from "../platform/json/external.ts";
import { formOf } from "../platform/json/form.ts";
import { type Static, Type } from "../platform/json/schema.ts";
import { readBounded, withoutControls } from "../platform/text/foreign.ts";
import type { DeliveryMessage } from "../webhooks/model/deliveries.ts";

/** The receiver violates the rule of a scenario. */
export class ScenarioFailure extends CodedError<"SCENARIO_FAILED"> {
  readonly expected: string;
  /** Observed behaviour of the receiver. */
  readonly found: string;

  /** Next step, if it is not that of the scenario. */
  readonly change: string | undefined;

  constructor(expected: string, found: string, change?: string) {
    super("SCENARIO_FAILED", `expected ${expected}, but ${found}`, { isRetryable: false });
    this.expected = expected;
    this.found = found;
    this.change = change;
  }
}

/** Maximum number of facts in a view. */
const MAX_FACTS = 20_000;
/** Maximum number of characters of a text in a fact. */
const MAX_TEXT = 200;
/** A fact has about 200 bytes. */
const MAX_VIEW_BYTES = 8 * 1_048_576;
const BOUNDS: TextBounds = { maxCharacters: MAX_VIEW_BYTES, maxDepth: 8, maxValues: 10 * MAX_FACTS };

const TEXT = Type.String({ maxLength: MAX_TEXT });
const SHOWN_FACT = Type.Object({
  id: TEXT,
  event: TEXT,
  height: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  blockId: Type.Optional(Type.Union([TEXT, Type.Null()])),
});
const VIEW = formOf(Type.Object({ facts: Type.Array(SHOWN_FACT, { maxItems: MAX_FACTS }) }));

/** A fact that the receiver shows. */
export type ShownFact = Static<typeof SHOWN_FACT>;

/**
 * Returns the facts that the probe shows.
 *
 * @throws {CodedError} PROBE_FAILED
 */
export async function readView(probe: string, signal: AbortSignal): Promise<readonly ShownFact[]> {
  try {
    const response = await fetch(probe, {
      signal,
      redirect: "manual",
      headers: { accept: "application/json" },
    });
    const text = await readBounded(response.body, MAX_VIEW_BYTES);
    if (response.status !== 200) throw new Error(`it responded with status ${response.status}`);
    return parseExternal(text, VIEW, BOUNDS).facts;
  } catch (error) {
    throw new CodedError("PROBE_FAILED", `failed to read ${probe}: ${reasonOf(error)}`, {
      isRetryable: true,
      cause: error,
    });
  }
}

/** Returns the reason of a failed request, which `fetch` names in the cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error
    ? `${message} (${cause.message || (cause as NodeJS.ErrnoException).code})`
    : message;
}

type Expectation = {
  /** Ids that the scenario has sent. */
  readonly sent: Iterable<string>;
  readonly facts: readonly DeliveryMessage[];
  /** Event that the receiver handles: other events may be absent. */
  readonly event: string;
};

/** Describes the first difference between the view and the expected one; undefined if there is none. */
export function differenceOf(
  view: readonly ShownFact[],
  { sent, facts, event }: Expectation,
): string | undefined {
  const shown = new Map<string, ShownFact[]>();
  for (const fact of view) shown.set(fact.id, [...(shown.get(fact.id) ?? []), fact]);
  const expected = new Map(facts.map((fact) => [fact.id, fact]));
  for (const id of sent) {
    const found = shown.get(id) ?? [];
    const fact = expected.get(id);
    if (!fact && found.length > 0) return `${labelOf(found[0] as ShownFact)} must not be in its view`;
    if (!fact) continue;
    if (found.length > 1) return `its view has ${labelOf(fact)} ${found.length} times`;
    if (found.length === 0 && fact.event === event) return `${labelOf(fact)} is missing in its view`;
    const wrong = found.map((one) => wrongMember(one, fact)).find((text) => text !== undefined);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

const MEMBERS = ["event", "height", "blockId"] as const;

function wrongMember(shown: ShownFact, fact: DeliveryMessage): string | undefined {
  const name = MEMBERS.find((member) => (shown[member] ?? undefined) !== fact[member]);
  return name === undefined
    ? undefined
    : `its view has ${labelOf(fact)} with "${name}" ${JSON.stringify(shown[name])} instead of ${JSON.stringify(fact[name])}`;
}

const labelOf = ({ event, id }: Pick<DeliveryMessage, "event" | "id">): string => `${event} ${id}`;

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

/** Maximum number of ids in a failure. */
const MAX_NAMED = 5;

function expectedText(facts: readonly DeliveryMessage[]): string {
  if (facts.length === 0) return "no fact of this scenario in its view";
  const ids = facts.slice(0, MAX_NAMED).map(({ id }) => id);
  const more = facts.length > ids.length ? ` and ${facts.length - ids.length} more` : "";
  return `its view to have once: ${ids.join(", ")}${more}`;
}
