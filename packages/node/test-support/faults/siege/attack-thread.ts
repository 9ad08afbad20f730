/** Runs one attack in a separate thread, so that its work does not delay the observers of the node. */
import { parentPort, workerData } from "node:worker_threads";
import { present } from "../../../src/platform/present.ts";
import { Attacker } from "./attacker.ts";
import { ATTACKS, networkOf } from "./attacks/all.ts";
import type { Target } from "./node.ts";

export type AttackData = { readonly name: string; readonly target: Target; readonly attackMs: number };

export type AttackResult = {
  readonly offered: number;
  readonly refused: number;
  /** Error of an attack that could not run, or that the node did not withstand. */
  readonly failure?: string;
};

/** Time in which an attack must make its first offer. */
const BEGIN_TIMEOUT_MS = 60_000;

const { name, target, attackMs } = workerData as AttackData;
const ending = new AbortController();
const endAfter = (ms: number) => setTimeout(() => ending.abort(), ms);
endAfter(BEGIN_TIMEOUT_MS + attackMs);
// What an attack prepares does not count as its duration.
const onFirstOffer = () => endAfter(attackMs);
const attacker = new Attacker({ target, network: networkOf(name), signal: ending.signal, onFirstOffer });
const attack = present(ATTACKS.find((one) => one.name === name));
const failed = await attack.run(attacker).then(
  () => ({}),
  (error: Error) => ({ failure: error.message }),
);
attacker.closeAll();
present(parentPort).postMessage({ ...attacker.counts, ...failed } satisfies AttackResult);
