/** Every attack, in order: on the shared node, attacks that leave the most data come last. */
import type { Attack } from "../attacker.ts";
import { ACCUMULATED } from "./accumulated.ts";
import { BLOCKS } from "./blocks.ts";
import { CONNECTIONS } from "./connections.ts";
import { everydayLoad } from "./everyday.ts";
import { JUNK } from "./junk.ts";
import { PEER_ATTACKS } from "./peers.ts";
import { POOL } from "./pool.ts";
import { REQUESTS } from "./requests.ts";
import { WEBHOOK_ATTACKS } from "./webhooks.ts";

export const ATTACKS: readonly Attack[] = [
  ...[...REQUESTS, ...CONNECTIONS, ...POOL, ...JUNK, ...PEER_ATTACKS, ...BLOCKS],
  ...[...WEBHOOK_ATTACKS, ...ACCUMULATED, everydayLoad],
];

/** Network of the addresses of an attack, 127.N.0.0/16. */
export const networkOf = (attack: Attack): number => 20 + ATTACKS.indexOf(attack);
