/** The networks that come with the node (networks.md). */
import type { NetworkFiles } from "./network.ts";
import { dalinet } from "./presets/dalinet.ts";
import { livenet } from "./presets/livenet.ts";
import { sandbox } from "./presets/sandbox.ts";
import { testnet } from "./presets/testnet.ts";
import { unitnet } from "./presets/unitnet.ts";

export { dalinet, livenet, sandbox, testnet, unitnet };

const byName = { livenet, sandbox, dalinet, testnet, unitnet };

export const presets: Readonly<typeof byName & Record<string, NetworkFiles>> = byName;
