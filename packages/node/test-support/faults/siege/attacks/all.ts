/** Every attack, in order: on the shared node, attacks that leave the most data come last. */
import type { NamedAttack } from "../attacker.ts";
import { ACCUMULATED } from "./accumulated.ts";
import { BLOCKS } from "./blocks.ts";
import { CONNECTIONS } from "./connections.ts";
import { everydayLoad } from "./everyday.ts";
import { PEER_ATTACKS } from "./peers.ts";
import { REQUESTS } from "./requests.ts";
import { JUNK, POOL } from "./transactions.ts";
import { WEBHOOK_ATTACKS } from "./webhooks.ts";

export const ATTACKS: readonly NamedAttack[] = Object.entries({
  ...{ ...REQUESTS, ...CONNECTIONS, ...POOL, ...JUNK, ...PEER_ATTACKS, ...BLOCKS },
  ...{ ...WEBHOOK_ATTACKS, ...ACCUMULATED, "everyday load": everydayLoad },
}).map(([name, attack]) => ({ name, ...attack }));

/** Network of the addresses of an attack, 127.N.0.0/16. */
export const networkOf = (name: string): number => 20 + ATTACKS.findIndex((attack) => attack.name === name);
