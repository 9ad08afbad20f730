/** Targets that may be registered. */
import { isIP } from "node:net";
import { invalid, readMembers, required } from "../../subscriptions/members.ts";
import { hostOf } from "../model/target-host.ts";
import { FIELD_READERS } from "./fields.ts";

export type TargetOptions = {
  /** Returns whether deliveries may go to an address. Names are only checked by the guard of deliveries. */
  readonly isTargetAddress: (address: string) => boolean;
};

/**
 * Reads a body that has only a target.
 *
 * @throws {SubscriptionError}
 */
export function readTarget(options: TargetOptions, body: unknown): string {
  const target = required(readMembers(body, { target: FIELD_READERS.target }).target, "target");
  checkTarget(options, target);
  return target;
}

/**
 * Refuses a target that the guard would refuse at every delivery.
 *
 * @throws {SubscriptionError}
 */
export function checkTarget({ isTargetAddress }: TargetOptions, target: string): void {
  const address = addressIn(target);
  if (address !== undefined && !isTargetAddress(address)) {
    throw invalid(
      `"target" must not be the address ${address}, which is not public: see --webhook-private-targets and --webhook-allow`,
      "TARGET_REFUSED",
    );
  }
}

/** Returns the address in a URL; undefined for a name other than that of this machine. */
function addressIn(target: string): string | undefined {
  const host = hostOf(target).name;
  if (host === "localhost") return "127.0.0.1";
  return isIP(host) === 0 ? undefined : host;
}
