/** Runs one attack in a separate thread, so that its work does not delay the observers of the node. */
import { parentPort, workerData } from "node:worker_threads";
import { present } from "../../packages/node/src/platform/present.ts";
import type { Outage, Tally } from "./attack-definition.ts";
import { ATTACKS } from "./attacks/all.ts";
import type { Target } from "./target.ts";

export type AttackData = { readonly name: string; readonly target: Target };
/** Sent when the attack has ended. */
export type AttackResult = {
  readonly offered: number;
  readonly refused: number;
  /** Periods in which slots are expected to be missed. */
  readonly outages: readonly Outage[];
  /** Error of an attack that could not run. */
  readonly failure?: string;
};

/** `begun` is sent with the first offer: what an attack prepares does not count as its duration. */
export type AttackMessage = "begun" | AttackResult;

const { name, target } = workerData as AttackData;
const attack = present(ATTACKS.find((one) => one.name === name));
const main = present(parentPort);
const ending = new AbortController();
// Any message ends the attack.
main.once("message", () => ending.abort());

let [offered, refused] = [0, 0];
const outages: Outage[] = [];
const tally: Tally = {
  offered(count = 1) {
    if (offered === 0) main.postMessage("begun" satisfies AttackMessage);
    offered += count;
  },
  refused(count = 1) {
    refused += count;
  },
  outage(outage) {
    outages.push(outage);
  },
};
const failure = await attack.run(target, tally, ending.signal).then(
  () => undefined,
  (error: Error) => error.message,
);
main.postMessage({
  offered,
  refused,
  outages,
  ...(failure !== undefined && { failure }),
} satisfies AttackResult);
