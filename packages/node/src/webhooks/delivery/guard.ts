/**
 * Keeps deliveries away from the operator's own network (webhooks.md section 10, point 7). Every address is checked at
 * the moment of the connection, and the connection goes to no other than the checked ones: names that change their
 * address after registration, or between check and use, gain nothing.
 */
import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { buildConnector } from "undici";

export type GuardOptions = {
  /** Let every address pass. */
  readonly allowPrivateTargets: boolean;
  /** Networks in CIDR notation that pass although they are private. */
  readonly allowedNetworks: readonly string[];
  readonly connectTimeoutMs: number;
};

/** All of IPv6 that is assigned for use on the internet. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

type Address = { readonly address: string; readonly family: number };

/** Every address of a name. */
export type Lookup = (
  hostname: string,
  callback: (error: Error | null, addresses: readonly Address[]) => void,
) => void;

/** The target resolves to an address that deliveries must not reach. */
export class TargetRefusedError extends Error {
  readonly code = "TARGET_REFUSED";
  readonly address: string;

  constructor(address: string) {
    super(`target address ${address} is not public`);
    this.name = "TargetRefusedError";
    this.address = address;
  }
}

/**
 * A connector for public addresses only.
 *
 * @throws {Error} when a network is not in CIDR notation
 */
export function createGuardedConnector(
  options: GuardOptions,
  lookup: Lookup = (hostname, callback) =>
    systemLookup(hostname, { all: true, verbatim: true }, (error, addresses) => callback(error, addresses)),
): buildConnector.connector {
  const check = createAddressCheck(options);

  const guardedLookup: LookupFunction = (hostname, lookupOptions, callback) => {
    lookup(hostname, (error, addresses) => {
      const failure = error ?? refusalOf(addresses);
      const [first] = addresses ?? [];
      if (failure || !first) callback(failure ?? new Error(`${hostname} has no address`), "", 4);
      else if (lookupOptions.all) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
  };

  /** One bad address spoils a name: an honest one has none. */
  function refusalOf(addresses: readonly Address[]): Error | undefined {
    const bad = addresses.find(({ address }) => !check(address));
    return bad && new TargetRefusedError(bad.address);
  }

  const connect = buildConnector({
    timeout: options.connectTimeoutMs,
    // One request after another, as the queues ask for.
    allowH2: false,
    lookup: guardedLookup,
  });

  return (target, callback) => {
    // The lookup is never called for an address literal.
    if (isIP(target.hostname) && !check(target.hostname)) {
      callback(new TargetRefusedError(target.hostname), null);
    } else connect(target, callback);
  };
}

/** A test whether deliveries may go to an address; `::ffff:10.0.0.1` is judged as `10.0.0.1`. */
export function createAddressCheck({
  allowPrivateTargets,
  allowedNetworks,
}: Pick<GuardOptions, "allowPrivateTargets" | "allowedNetworks">): (address: string) => boolean {
  const networks = allowedNetworks.map((network) => ipaddr.parseCIDR(network));
  return (text) => {
    if (allowPrivateTargets) return true;
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return (
      isPublic(address) ||
      networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
    );
  };
}

/** Addresses that the library knows nothing special about, such as `::7f00:1`, are not public for that alone. */
function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.range() === "unicast" && (address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST));
}
