/** Shows the slots of the round as cells, in order of time. */
import { useComputed } from "@preact/signals";
import { useRef } from "preact/hooks";
import { useNode, useResponse } from "../../data/node.ts";
import { useDelegateNames } from "../delegate-name.tsx";
import { countText, shortened } from "../format.ts";
import { hrefOf } from "../identifier.tsx";
import { Section } from "../page.tsx";
import { blockBefore, type Round, roundAfter, roundOf, type Slot } from "./round.ts";
import "./round.css";

/** @param isSteady shows only the latest slots, as many as the round has blocks, so that the layout is stable */
export function RoundMonitor({ isSteady = false }: { isSteady?: boolean }) {
  const { top, configuration, nowMs, readAtMs, clockOffsetMs, connection } = useNode();
  const names = useDelegateNames();
  const ranked = useRankedKeys();
  const constants = configuration.value?.constants;
  // Changes only when a slot ends.
  const slotAt = (timeMs: () => number) => () => {
    const blocktime = configuration.value?.constants.blocktime ?? 1;
    const { unix = 0, epoch = 0 } = top.value[0]?.timestamp ?? {};
    return Math.floor((timeMs() / 1_000 - unix + epoch) / blocktime) * blocktime;
  };
  const readMs = () => readAtMs.value + clockOffsetMs.value;
  const readEpoch = useComputed(slotAt(readMs));
  // The round is frozen while the node does not respond, because its slots are unknown.
  const slotEpoch = useComputed(
    slotAt(() => (connection.value.state === "disconnected" ? readMs() : nowMs.value)),
  );
  const known = useRef<Round | undefined>(undefined);
  if (!constants) return null;
  // The order of a new round is available after its start; until then, the previous round is shown.
  if (ranked) {
    known.current = roundOf({
      blocks: top.value,
      ranked,
      size: constants.activeDelegates,
      blocktime: constants.blocktime,
      nowEpoch: slotEpoch.value,
      readEpoch: readEpoch.value,
    });
  }
  const round = known.current;
  if (!round) return <Unknown size={constants.activeDelegates} />;
  const slots = isSteady ? round.slots.slice(-round.size) : round.slots;
  return (
    <Section
      title={`Round ${countText(round.round)}`}
      aside={<Summary slots={round.slots} isOrderKnown={round.isOrderKnown} />}
    >
      <ol class="round" aria-label="Slots of the round, in the order of time">
        {slots.map((slot, place) => (
          <SlotCell key={place} slot={slot} name={names.get(slot.delegate ?? "")} />
        ))}
      </ol>
    </Section>
  );
}

/** Placeholder for a round that is not loaded yet. */
const Unknown = ({ size }: { size: number }) => (
  <Section title="Round" aside={<span class="round-summary quiet">&nbsp;</span>}>
    <ol class="round" aria-hidden="true">
      {Array.from({ length: size }, (_, place) => (
        <li key={place} class="slot next">
          <span class="slot-name">&nbsp;</span>
          <span class="slot-state">&nbsp;</span>
        </li>
      ))}
    </ol>
  </Section>
);

/**
 * Returns the public keys of the active delegates, rank 1 first. Ranks change with each round, so they are fetched once per
 * round, and again when a reorganization replaced the block before it.
 *
 * @returns undefined before the first response; empty if the node does not provide them
 */
function useRankedKeys(): readonly string[] | undefined {
  const { api, top, configuration } = useNode();
  const size = configuration.value?.constants.activeDelegates ?? 0;
  const [head] = top.value;
  const round = head && size > 0 ? roundAfter(head, size) : undefined;
  const before = round && blockBefore(round, top.value);
  const { value, error } = useResponse(
    round && `round ${round.round} after ${before?.id}`,
    () => api.delegates.list({ orderBy: "rank:asc" }).page({ limit: 100 }),
    { lasts: "session" },
  );
  if (error !== undefined) return [];
  return value?.data
    .filter(({ rank }) => rank !== undefined && rank <= size)
    .map(({ publicKey }) => publicKey);
}

/**
 * Counts the slots of the whole round: those of a chain that stands still are filled by future ones. One line on every screen
 * and in every state, so that the slots below it do not move.
 */
function Summary({ slots, isOrderKnown }: Pick<Round, "slots" | "isOrderKnown">) {
  const count = (counted: Slot["state"]) => slots.filter(({ state }) => state === counted).length;
  return (
    <span class="round-summary quiet">
      {count("forged")} forged, {count("missed")} missed
      {!isOrderKnown && " · order unknown"}
    </span>
  );
}

const WORDS = { forged: "forged", missed: "missed", open: "…", now: "now", next: "…" };

function SlotCell({ slot, name }: { slot: Slot; name: string | undefined }) {
  const { state, block, delegate } = slot;
  const shown = name ?? shortened(delegate ?? "unknown");
  return (
    <li class={`slot ${state}`}>
      <span class="slot-name">{delegate ? <a href={hrefOf.delegate(delegate)}>{shown}</a> : shown}</span>
      <span class="slot-state">
        {block ? (
          <a href={hrefOf.block(block.id)}>{countText(block.height)}</a>
        ) : (
          <Countdown key={state} slot={slot} />
        )}
      </span>
    </li>
  );
}

function Countdown({ slot: { epoch, state } }: { slot: Slot }) {
  const { nowMs, top } = useNode();
  const text = useComputed(() => {
    const { unix = 0, epoch: headEpoch = 0 } = top.value[0]?.timestamp ?? {};
    const seconds = Math.ceil(epoch + unix - headEpoch - nowMs.value / 1_000);
    return state === "next" && seconds > 0 ? `in ${seconds} s` : WORDS[state];
  });
  return <>{text}</>;
}
