/** Resolves the names of targets. */
import { lookup as lookUp } from "node:dns/promises";

export type Resolved = { readonly address: string; readonly family: number };

/** Resolves a name to all of its addresses. */
export type Lookup = (hostname: string) => Promise<readonly Resolved[]>;

export class Names {
  readonly lookup: Lookup = (hostname) => lookUp(hostname, { all: true, verbatim: true });
}
