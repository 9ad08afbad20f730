/** Every runner, by `kind` or name of the vector file. */
import { identityRunners } from "./identities.ts";
import type { Runners } from "./vector.ts";

export const runners: Runners = { ...identityRunners };
