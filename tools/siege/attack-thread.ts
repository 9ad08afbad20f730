/** Runs one attack in a separate thread, so that its work does not delay the observers of the node. */
import { parentPort, workerData } from "node:worker_threads";
import { present } from "../../packages/node/src/platform/present.ts";
import { Attacker } from "./attacker.ts";
import { ATTACKS, networkOf } from "./attacks/all.ts";
import type { Outage, Target } from "./node.ts";

export type AttackData = { readonly name: string; readonly target: Target };

export type AttackResult = {
  readonly offered: number;
  readonly refused: number;
  readonly outages: readonly Outage[];
  /** Error of an attack that could not run, or that the node did not withstand. */
  readonly failure?: string;
};

/** `begun` is sent with the first offer: what an attack prepares does not count as its duration. */
export type AttackMessage = "begun" | AttackResult;

const { name, target } = workerData as AttackData;
const attack = present(ATTACKS.find((one) => one.name === name));
const main = present(parentPort);
const post = (message: AttackMessage) => main.postMessage(message);
const ending = new AbortController();
// Any message ends the attack.
main.once("message", () => ending.abort());

const attacker = new Attacker(
  { target, network: networkOf(attack), signal: ending.signal },
  { onFirstOffer: () => post("begun") },
);
const failure = await attack.run(attacker).then(
  () => undefined,
  (error: Error) => error.message,
);
attacker.closeAll();
post({ ...attacker.counts, outages: attacker.outages, ...(failure !== undefined && { failure }) });
