/** Hosts of targets of every scheme, as in http URLs: lower-case names, and addresses in one form. */
import { isNatsTarget, parseNatsTarget } from "./nats-target.ts";

export type TargetHost = {
  /** Name or address, without brackets. */
  readonly name: string;
  /** The same with the port, unless it is the default port of http or https. */
  readonly withPort: string;
};

/** Returns the host of a valid target. */
export function hostOf(target: string): TargetHost {
  const nats = isNatsTarget(target) ? parseNatsTarget(target) : undefined;
  // The URL parser changes neither names nor addresses of schemes that it does not know.
  if (nats) return { name: nats.host, withPort: `${nats.host}:${nats.port}` };
  const { hostname, host } = new URL(target);
  return { name: hostname.replace(/^\[|\]$/g, ""), withPort: host };
}
