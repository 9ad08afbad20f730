/**
 * Keeps deliveries away from the operator's own network (webhooks.md 10 point 7). Every address is checked when the
 * connection is opened, and only checked addresses are connected to: a name that changes its address after registration,
 * or between check and use, cannot evade the check.
 */

import ipaddr from "ipaddr.js";
import { createRangeTest } from "../../platform/addresses/ranges.ts";
import { CodedError } from "../../platform/coded-error.ts";

/** Targets that deliveries may reach. Networks are lists of addresses and networks (`addresses/ranges.ts`). */
export type TargetOptions = {
  /** Allows loopback and private addresses. */
  readonly allowPrivateTargets: boolean;
  /** Networks that are always allowed, unless they are also denied. */
  readonly allowedNetworks: string;
  /** Networks that are always denied, even if they are also allowed. */
  readonly deniedNetworks: string;
};

export const PUBLIC_TARGETS: TargetOptions = {
  allowPrivateTargets: false,
  allowedNetworks: "",
  deniedNetworks: "",
};

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The part of IPv6 that is assigned for use on the internet. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");
/** Prefix of addresses that are translated to the IPv4 address in their last four bytes (RFC 6052). */
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");
const LOCAL_NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b:1::/48");
/**
 * Metadata services of clouds, which give secrets to their machines: refused even if private targets are allowed. The
 * service of Azure has a public address.
 */
const METADATA =
  "169.254.169.254, 169.254.170.0/24, 168.63.129.16, 100.100.100.200, 192.0.0.192, fd00:ec2::/32, fd20:ce::254";

/** Deliveries must not reach the target. A retry may succeed if the name gets another address. */
export const refusedAddress = (address: string) =>
  new CodedError("TARGET_REFUSED", `target address ${address} is not public or not allowed`, {
    isRetryable: true,
  });

/**
 * Creates a test whether deliveries may go to an address. It checks `::ffff:10.0.0.1` and `64:ff9b::10.0.0.1` as
 * `10.0.0.1`, to which they are translated.
 *
 * @throws {Error} naming an entry of a list that is neither address nor network
 */
export function createAddressCheck({
  allowPrivateTargets,
  allowedNetworks,
  deniedNetworks,
}: TargetOptions): (address: string) => boolean {
  const isDenied = createRangeTest(deniedNetworks);
  const isAllowed = createRangeTest(allowedNetworks);
  const isMetadata = createRangeTest(METADATA);
  return (given) => {
    if (!ipaddr.isValid(given)) return false;
    const address = destinationOf(ipaddr.parse(given));
    const destination = (translatedOf(address) ?? address).toString();
    if (isDenied(given) || isDenied(destination)) return false;
    if (isAllowed(given) || isAllowed(destination)) return true;
    return !isMetadata(destination) && (allowPrivateTargets || isPublic(address));
  };
}

/** Returns the IPv4 address to which packets for an IPv6 address are forwarded, otherwise the address itself. */
function destinationOf(address: Address): Address {
  if (address instanceof ipaddr.IPv4) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  return address.match(NAT64) ? new ipaddr.IPv4(address.toByteArray().slice(-4)) : address;
}

/**
 * Returns the IPv4 address to which a private network may forward packets (RFC 8215, 6145, 3056). None of these is public,
 * but if private targets are allowed, they must not reach denied networks.
 */
function translatedOf(address: Address): Address | undefined {
  if (address instanceof ipaddr.IPv4) return undefined;
  const bytes = address.toByteArray();
  if (address.match(LOCAL_NAT64) || address.range() === "rfc6145") return new ipaddr.IPv4(bytes.slice(-4));
  return address.range() === "6to4" ? new ipaddr.IPv4(bytes.slice(2, 6)) : undefined;
}

/**
 * Returns whether an address is public. The library reports some private addresses, such as `::7f00:1`, as ordinary
 * unicast.
 */
function isPublic(address: Address): boolean {
  return address.range() === "unicast" && (address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST));
}
