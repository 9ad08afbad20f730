/** Scenarios of facts that are retracted, because their block was reverted. */
import type { Scenario } from "../stage.ts";

const RETRACTIONS = "docs/guides/reorganisations.md#handle-retractions";
const FORMER_SENDER = "docs/guides/webhooks.md#late-calls-of-a-former-sender";

const REMEMBER = "store the ids that were retracted, and ignore facts with these ids";
const DEPTH = 3;

export const RETRACTIONS_OF_FACTS: readonly Scenario[] = [
  {
    name: "retraction",
    rule: "A retraction cancels the fact that it names in reverts, and no other.",
    change: "undo the effect of the delivery whose id is in reverts",
    section: RETRACTIONS,
    async play(stage, messages) {
      const facts = [stage.fact(), stage.fact()] as const;
      const [stays, goes] = facts;
      await stage.deliver(...facts);
      await stage.expectView(facts);
      await stage.deliver(messages.retraction(goes));
      return [stays];
    },
  },
  {
    name: "retraction-repeated",
    rule: "A retraction that arrives twice is accepted twice.",
    change: "respond with 2xx to a retraction whose fact is already cancelled",
    section: RETRACTIONS,
    async play(stage, messages) {
      const one = stage.fact();
      const cancel = messages.retraction(one);
      await stage.deliver(one, cancel, cancel);
      return [];
    },
  },
  {
    name: "retraction-unknown",
    rule: "A retraction of a delivery that never arrived is accepted, and has no effect.",
    change: "respond with 2xx to a retraction whose fact you do not know",
    section: RETRACTIONS,
    async play(stage, messages) {
      const [lost, stays] = [stage.fact(), stage.fact()];
      await stage.deliver(stays, messages.retraction(lost));
      return [stays];
    },
  },
  {
    name: "retraction-first",
    rule: "A fact that arrives after its retraction, as a late call of a former sender, has no effect.",
    change: `${REMEMBER}, or refuse lower epochs than you have seen with 409`,
    section: FORMER_SENDER,
    async play(stage, messages) {
      const one = stage.fact();
      const [former, present] = [messages.epoch(), messages.epoch()];
      await stage.deliverAs(messages.retraction(one), { epoch: present });
      await stage.attempt(one, { epoch: former });
      return [];
    },
  },
  {
    name: "fact-after-retraction",
    rule: "A copy of a fact that arrives after its retraction, such as a call that the node gave up, has no effect.",
    change: REMEMBER,
    section: RETRACTIONS,
    async play(stage, messages) {
      const one = stage.fact();
      await stage.deliver(one, messages.retraction(one));
      await stage.attempt(one);
      return [];
    },
  },
  {
    name: "applied-again",
    rule: "A block that is applied again after a revert takes effect: its facts have new ids.",
    change: "identify deliveries by their id, not by height, block or transaction",
    section: RETRACTIONS,
    async play(stage, messages) {
      const block = messages.place();
      const first = stage.fact({ place: block });
      await stage.deliver(first, messages.retraction(first));
      const again = stage.fact({ place: block, timesReverted: 1 });
      await stage.deliver(again);
      return [again];
    },
  },
  {
    name: "retraction-of-other-events",
    rule: "A retraction is recognised by reverts, for facts of every event.",
    change:
      "test for reverts instead of the names of events: the retraction of unik.minted is unik.minted.reverted",
    section: RETRACTIONS,
    async play(stage, messages) {
      const minted = stage.fact({ event: "unik.minted" });
      await stage.deliver(minted, messages.retraction(minted));
      return [];
    },
  },
  {
    name: "revert-without-fact",
    rule: "A subscribed block.reverted event without reverts is accepted, and does not cancel facts of other blocks.",
    change: "cancel a fact only if reverts names it",
    section: RETRACTIONS,
    async play(stage, messages) {
      const one = stage.fact();
      await stage.deliver(one, messages.other("block.reverted", { id: "00" }, messages.place()));
      return [one];
    },
  },
  {
    name: "reorganisation",
    rule: "Three blocks are reverted, the highest first, and replaced by four: only the facts of the new branch remain.",
    change: "apply retractions and facts in the order in which they arrive, each by its id",
    section: RETRACTIONS,
    async play(stage, messages) {
      const places = Array.from({ length: DEPTH }, () => messages.place());
      const old = places.map((at) => stage.fact({ place: at }));
      await stage.deliver(...old);
      await stage.expectView(old);
      for (const one of old.toReversed()) await stage.deliver(messages.retraction(one));
      const replaced = [...places.map((at) => stage.fact({ place: messages.sibling(at) })), stage.fact()];
      await stage.deliver(...replaced);
      return replaced;
    },
  },
];
