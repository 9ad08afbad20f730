/** The slots of the round as cells, by their order in time. */
import { useComputed } from "@preact/signals";
import type { Delegate } from "@uniknode/client";
import { useNode } from "../../data/node.ts";
import { nameOf, useRankedDelegates } from "../delegate-names.ts";
import { countText, shortened } from "../format.ts";
import { hrefOf } from "../identifier.tsx";
import { Section } from "../page.tsx";
import { type Round, roundOf, type Slot } from "./round.ts";
import "./round.css";

export function RoundMonitor() {
  const { top, configuration, nowMs } = useNode();
  const { value: delegates } = useRankedDelegates();
  const constants = configuration.value?.constants;
  // Once a second at most, and only when a slot ends.
  const slotEpoch = useComputed(() => {
    const blocktime = configuration.value?.constants.blocktime ?? 1;
    const { unix = 0, epoch = 0 } = top.value[0]?.timestamp ?? {};
    return Math.floor((nowMs.value / 1_000 - unix + epoch) / blocktime) * blocktime;
  });
  if (!constants || !delegates) return null;
  const size = constants.activeDelegates;
  const round = roundOf({
    blocks: top.value,
    ranked: delegates.data
      .filter(({ rank }) => rank !== undefined && rank <= size)
      .map(({ publicKey }) => publicKey),
    size,
    blocktime: constants.blocktime,
    nowEpoch: slotEpoch.value,
  });
  if (!round) return null;
  const byKey = new Map(delegates.data.map((delegate) => [delegate.publicKey, delegate]));
  return (
    <Section title={`Round ${countText(round.round)}`} aside={<Summary round={round} />}>
      <ol class="round" aria-label="Slots of the round, in the order of time">
        {round.slots.map((slot) => (
          <SlotCell key={slot.slot} slot={slot} delegate={byKey.get(slot.delegate ?? "")} />
        ))}
      </ol>
    </Section>
  );
}

function Summary({ round: { forged, size, slots, isOrderKnown } }: { round: Round }) {
  const missed = slots.filter(({ state }) => state === "missed").length;
  return (
    <span class="quiet">
      {forged} of {size} blocks forged
      {missed > 0 && `, ${countText(missed)} ${missed === 1 ? "slot" : "slots"} missed`}
      {!isOrderKnown && ". The order of this round is not known here"}
    </span>
  );
}

const WORDS = { forged: "forged", missed: "missed", now: "now", next: "next" };

function SlotCell({ slot, delegate }: { slot: Slot; delegate: Delegate | undefined }) {
  const { state, block } = slot;
  const name = delegate ? nameOf(delegate) : shortened(slot.delegate ?? "unknown");
  return (
    <li class={`slot ${state}`}>
      <span class="slot-name">
        {delegate ? <a href={hrefOf.delegate(delegate.username)}>{name}</a> : name}
      </span>
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
