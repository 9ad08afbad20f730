/** Scenarios in which the receiver is restarted between deliveries. */
import type { Scenario } from "../stage.ts";

const RECEIVE = "docs/guides/webhooks.md#receive";
const RETRACTIONS = "docs/guides/reorganisations.md#handle-retractions";

export const RESTARTS: readonly Scenario[] = [
  {
    name: "kept-after-restart",
    rule: "A fact that was acknowledged survives a restart of the receiver.",
    change: "write the fact to disk before you respond: the node does not send it again",
    section: RECEIVE,
    needsRestart: true,
    async play({ fact, deliver, restart }) {
      const one = fact();
      await deliver(one);
      await restart();
      return [one];
    },
  },
  {
    name: "duplicate-after-restart",
    rule: "A delivery that arrives again after a restart takes effect once.",
    change: "write the ids of deliveries to disk, in the transaction that applies them",
    section: RECEIVE,
    needsRestart: true,
    async play({ fact, deliver, restart }) {
      const one = fact();
      await deliver(one);
      await restart();
      await deliver(one);
      return [one];
    },
  },
  {
    name: "retraction-after-restart",
    rule: "A retraction that arrives after a restart cancels a fact that arrived before it.",
    change: "find the effect of a delivery by its id in your database, not in memory",
    section: RETRACTIONS,
    needsRestart: true,
    async play({ fact, retraction, deliver, restart }) {
      const [stays, goes] = [fact(), fact()];
      await deliver(stays, goes);
      await restart();
      await deliver(retraction(goes));
      return [stays];
    },
  },
  {
    name: "late-fact-after-restart",
    rule: "A copy of a fact that arrives after its retraction and a restart has no effect.",
    change: "write the ids that were retracted to disk, and ignore facts with these ids",
    section: RETRACTIONS,
    needsRestart: true,
    async play({ fact, retraction, deliver, attempt, restart }) {
      const [stays, goes] = [fact(), fact()];
      await deliver(stays, goes, retraction(goes));
      await restart();
      await attempt(goes);
      return [stays];
    },
  },
];
