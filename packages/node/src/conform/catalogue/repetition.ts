/** Scenarios of deliveries that are repeated, late, in another order, or separated by a restart of the receiver. */
import type { Scenario } from "../stage.ts";

const GUARANTEES = "docs/guides/webhooks.md#guarantees";
const FORMER_SENDER = "docs/guides/webhooks.md#late-calls-of-a-former-sender";
const REPLAY = "docs/guides/webhooks.md#replay-the-past";

const STORE_IDS =
  "store the id of each delivery in the transaction that applies it, and ignore ids that are stored";
const DELIVERIES_BETWEEN = 20;
const MISSING_DELIVERIES = 100;
/** Proof of a block with 900 transactions, near the largest one. */
const LARGE_PROOF = JSON.stringify({ ids: Array(900).fill("a".repeat(64)), headers: ["ab"], rounds: [] });

export const REPETITION: readonly Scenario[] = [
  {
    name: "duplicate",
    rule: "A delivery that arrives twice is accepted twice, and takes effect once.",
    change: STORE_IDS,
    section: GUARANTEES,
    async play(stage) {
      const one = stage.fact();
      await stage.deliver(one, one);
      return [one];
    },
  },
  {
    name: "late-duplicate",
    rule: "A delivery that arrives again after many others takes effect once.",
    change: "keep the ids of all deliveries, not only of the last ones: a delivery is retried for two days",
    section: GUARANTEES,
    async play(stage) {
      const one = stage.fact();
      const others = Array.from({ length: DELIVERIES_BETWEEN }, () => stage.fact());
      await stage.deliver(one, ...others, one);
      return [one, ...others];
    },
  },
  {
    name: "concurrent-duplicate",
    rule: "Two copies of a delivery that arrive at the same time take effect once.",
    change:
      "let the database decide which copy is the first: a unique key on the id, in the transaction of the effect",
    section: GUARANTEES,
    async play(stage) {
      const one = stage.fact();
      await stage.attemptCopies(one, 2);
      return [one];
    },
  },
  {
    name: "changed-proof",
    rule: "A delivery that is repeated with a proof in place of a link to it takes effect once.",
    change:
      "recognise a repeated delivery by its id, not by its bytes: the proof can change between attempts",
    section: "docs/guides/proofs.md#receive-deliveries-with-proofs",
    async play(stage) {
      const one = stage.fact();
      const proofText = JSON.stringify({ link: `/api/v2/blocks/${one.blockId}/proof` });
      await stage.deliverAs(one, { proofText });
      await stage.deliverAs(one, { proofText: LARGE_PROOF });
      return [one];
    },
  },
  {
    name: "duplicate-new-epoch",
    rule: "A delivery that a new sender sends again, with a higher epoch, is accepted and takes effect once.",
    change: `${STORE_IDS}, whatever their webhook-epoch is`,
    section: FORMER_SENDER,
    async play(stage, messages) {
      const one = stage.fact();
      await stage.deliverAs(one, { epoch: messages.epoch() });
      await stage.deliverAs(one, { epoch: messages.epoch() });
      return [one];
    },
  },
  {
    name: "former-worker",
    rule: "A late call of a former sender, with a lower epoch, does not repeat an effect.",
    change: "refuse lower epochs than you have seen with 409, or ignore ids that are stored",
    section: FORMER_SENDER,
    async play(stage, messages) {
      const one = stage.fact();
      const [former, present] = [messages.epoch(), messages.epoch()];
      await stage.deliverAs(one, { epoch: present });
      await stage.attempt(one, { epoch: former });
      return [one];
    },
  },
  {
    name: "without-epoch",
    rule: "A delivery without an epoch is accepted after deliveries with one.",
    change: "accept deliveries without webhook-epoch: a ping on request has none",
    section: FORMER_SENDER,
    async play(stage, messages) {
      const [worker, node] = [stage.fact(), stage.fact()];
      await stage.deliverAs(worker, { epoch: messages.epoch() });
      await stage.deliver(node);
      return [worker, node];
    },
  },
  {
    name: "disorder",
    rule: "Deliveries that arrive in another order than their sequences all take effect.",
    change: "do not refuse or ignore a sequence or height that is lower than the last one",
    section: GUARANTEES,
    async play(stage) {
      const facts = [stage.fact(), stage.fact(), stage.fact()] as const;
      const [first, second, third] = facts;
      await stage.deliver(third, first, second);
      return facts;
    },
  },
  {
    name: "sequence-gap",
    rule: "A gap of the sequence, from deliveries that are retried or have failed, does not stop the next deliveries.",
    change: "accept a sequence without the ones before it",
    section: "docs/guides/webhooks.md#receive",
    async play(stage, messages) {
      const before = stage.fact();
      messages.skipSequences(MISSING_DELIVERIES);
      const after = stage.fact();
      await stage.deliver(before, after);
      return [before, after];
    },
  },
  {
    name: "replay",
    rule: "A replay sends past facts again with their ids: known ones take effect once, and missed ones for the first time.",
    change: STORE_IDS,
    section: REPLAY,
    async play(stage) {
      const facts = [stage.fact(), stage.fact(), stage.fact(), stage.fact()] as const;
      const [first, missed, third, last] = facts;
      await stage.deliver(first, third, last);
      await stage.deliver(first, missed, third, last);
      return facts;
    },
  },
];

const RECEIVE = "docs/guides/webhooks.md#receive";
const RETRACTIONS = "docs/guides/reorganisations.md#handle-retractions";

export const RESTARTS: readonly Scenario[] = [
  {
    name: "kept-after-restart",
    rule: "A fact that was acknowledged survives a restart of the receiver.",
    change: "write the fact to disk before you respond: the node does not send it again",
    section: RECEIVE,
    needsRestart: true,
    async play(stage) {
      const one = stage.fact();
      await stage.deliver(one);
      await stage.restart();
      return [one];
    },
  },
  {
    name: "duplicate-after-restart",
    rule: "A delivery that arrives again after a restart takes effect once.",
    change: "write the ids of deliveries to disk, in the transaction that applies them",
    section: RECEIVE,
    needsRestart: true,
    async play(stage) {
      const one = stage.fact();
      await stage.deliver(one);
      await stage.restart();
      await stage.deliver(one);
      return [one];
    },
  },
  {
    name: "retraction-after-restart",
    rule: "A retraction that arrives after a restart cancels a fact that arrived before it.",
    change: "find the effect of a delivery by its id in your database, not in memory",
    section: RETRACTIONS,
    needsRestart: true,
    async play(stage, messages) {
      const [stays, goes] = [stage.fact(), stage.fact()];
      await stage.deliver(stays, goes);
      await stage.restart();
      await stage.deliver(messages.retraction(goes));
      return [stays];
    },
  },
  {
    name: "late-fact-after-restart",
    rule: "A copy of a fact that arrives after its retraction and a restart has no effect.",
    change: "write the ids that were retracted to disk, and ignore facts with these ids",
    section: RETRACTIONS,
    needsRestart: true,
    async play(stage, messages) {
      const [stays, goes] = [stage.fact(), stage.fact()];
      await stage.deliver(stays, goes, messages.retraction(goes));
      await stage.restart();
      await stage.attempt(goes);
      return [stays];
    },
  },
];
