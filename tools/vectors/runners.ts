/** Every runner, by `kind` or name of the vector file. */
import { identityRunners } from "./identities.ts";
import { networkRunners } from "./networks.ts";
import type { Runners } from "./vector.ts";

export const runners: Runners = { ...identityRunners, ...networkRunners };
