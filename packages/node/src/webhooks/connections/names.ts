/**
 * Resolves the names of targets over sockets of its own. `dns.lookup` would occupy one of the four threads that files and
 * compression share, for as long as the name server of a target takes.
 */
import { Resolver } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { setNewest } from "../../platform/bounded-entries.ts";
import { CodedError } from "../../platform/coded-error.ts";

export type Resolved = { readonly address: string; readonly family: number };

/**
 * Resolves a name to all of its addresses.
 *
 * @throws {CodedError} NAME_NOT_FOUND, NAME_TIMEOUT, NAME_UNRESOLVED
 */
export type Lookup = (hostname: string) => Promise<readonly Resolved[]>;

export type NamesDeps = {
  readonly openResolver?: () => Pick<Resolver, "resolve4" | "resolve6" | "cancel">;
  readonly elapsedMs?: () => number;
  /** Returns the text of a file of this machine; empty if it cannot be read. */
  readonly readText?: (path: string) => string;
};

/** A name with its addresses, or with the lookup that finds them. */
type Entry = { readonly addresses: Promise<readonly Resolved[]>; untilMs: number };
type Found = { readonly addresses: readonly Resolved[]; readonly lifetimeMs: number };
type Source = Required<Pick<NamesDeps, "openResolver" | "readText">>;

/** Time of a lookup, less than that of a connection. */
const TIMEOUT_MS = 2_000;
/** The library repeats a query once in this time, at the next name server if there is one. */
const QUERY = { timeout: 800, tries: 2 };
/** Bounds of the lifetime of addresses: that of their records, in between. */
const MIN_LIFETIME_MS = 5_000;
const MAX_LIFETIME_MS = 300_000;
/** Lifetime of a failure, shorter than the pause before the first retry of a delivery. */
const FAILURE_LIFETIME_MS = 3_000;
const MAX_NAMES = 10_000;
/** Maximum of lookups at once; the oldest fails. Those of working name servers end before as many others can begin. */
const MAX_LOOKUPS = 1_024;
const MAX_ADDRESSES = 64;
/** Maximum length of a name in the system of names, with its last dot. */
const MAX_NAME_LENGTH = 254;
/** Maximum of search domains, as in the C library before version 2.26. */
const MAX_DOMAINS = 6;

const LOOPBACK: readonly Resolved[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

export class Names {
  readonly #source: Source;
  readonly #elapsedMs: () => number;
  /** Names that are or were looked up, the oldest first. */
  readonly #entries = new Map<string, Entry>();
  /** Ends of the running lookups, the oldest first. */
  readonly #running = new Set<() => void>();

  constructor({
    openResolver = () => new Resolver(QUERY),
    elapsedMs = () => performance.now(),
    readText = readIfPossible,
  }: NamesDeps = {}) {
    this.#source = { openResolver, readText };
    this.#elapsedMs = elapsedMs;
  }

  /** Calls for one name share a lookup, and its result for the lifetime of the records. */
  readonly lookup: Lookup = (hostname) => {
    const name = hostname.toLowerCase();
    if (name.length > MAX_NAME_LENGTH) return Promise.reject(unresolved(name.slice(0, 20), "it is too long"));
    const known = this.#entries.get(name);
    if (known && known.untilMs > this.#elapsedMs()) return known.addresses;
    const found = this.#begin(name);
    const entry: Entry = {
      addresses: found.then(({ addresses }) => addresses),
      untilMs: Number.POSITIVE_INFINITY,
    };
    const keep = (lifetimeMs: number) => {
      entry.untilMs = this.#elapsedMs() + lifetimeMs;
    };
    found.then(
      ({ lifetimeMs }) => keep(lifetimeMs),
      () => keep(FAILURE_LIFETIME_MS),
    );
    setNewest(this.#entries, name, entry, MAX_NAMES);
    return entry.addresses;
  };

  async #begin(name: string): Promise<Found> {
    const local = localAddresses(name, this.#source.readText);
    if (local.length > 0) return { addresses: local, lifetimeMs: MIN_LIFETIME_MS };
    const [oldest] = this.#running;
    if (oldest && this.#running.size >= MAX_LOOKUPS) oldest();
    const resolver = this.#source.openResolver();
    let isLate = false;
    const end = () => {
      isLate = true;
      this.#running.delete(end);
      resolver.cancel();
    };
    this.#running.add(end);
    const timeout = setTimeout(end, TIMEOUT_MS);
    try {
      return await searchFor(name, resolver, this.#source.readText, () => isLate);
    } finally {
      clearTimeout(timeout);
      this.#running.delete(end);
    }
  }
}

function readIfPossible(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Returns the addresses of a name for which no name server is queried. */
function localAddresses(name: string, readText: Source["readText"]): readonly Resolved[] {
  const plain = name.replace(/\.$/, "");
  const listed = linesOf(readText("/etc/hosts").toLowerCase()).flatMap(([address = "", ...names]) =>
    names.includes(plain) && isIP(address) !== 0 ? [{ address, family: isIP(address) }] : [],
  );
  if (listed.length > 0) return listed;
  return plain === "localhost" || plain.endsWith(".localhost") ? LOOPBACK : [];
}

/** Returns the words of each line, without comments. */
const linesOf = (text: string): string[][] =>
  text.split("\n").map((line) =>
    line
      .replace(/[#;].*/, "")
      .trim()
      .split(/\s+/),
  );

/** Queries a name, and in the search domains of this machine: there first if it has no dot. */
async function searchFor(
  name: string,
  resolver: ReturnType<Source["openResolver"]>,
  readText: Source["readText"],
  isLate: () => boolean,
): Promise<Found> {
  const domains = name.endsWith(".") ? [] : searchDomains(readText("/etc/resolv.conf"));
  const searched = domains.map((domain) => `${name}.${domain}`);
  for (const full of name.includes(".") ? [name, ...searched] : [...searched, name]) {
    const found = await query(full, resolver, isLate);
    if (found) return found;
  }
  throw new CodedError("NAME_NOT_FOUND", `${name} has no address`, { isRetryable: true });
}

/** Returns the domains of the last line that has some. */
function searchDomains(text: string): string[] {
  const lists = linesOf(text).filter(([keyword]) => keyword === "search" || keyword === "domain");
  return (lists.at(-1)?.slice(1) ?? []).map((domain) => domain.replace(/\.$/, "")).slice(0, MAX_DOMAINS);
}

/** Queries the addresses of both families; returns undefined if the name has none. */
async function query(
  name: string,
  resolver: ReturnType<Source["openResolver"]>,
  isLate: () => boolean,
): Promise<Found | undefined> {
  const settled = await Promise.allSettled([
    resolver.resolve4(name, { ttl: true }),
    resolver.resolve6(name, { ttl: true }),
  ]);
  // The address of one family is enough if the name server does not reply for the other.
  const records = settled.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
  if (records.length > MAX_ADDRESSES) {
    throw unresolved(name, `it has more than ${MAX_ADDRESSES} addresses`);
  }
  if (records.length > 0) {
    const lifetimeMs = 1_000 * Math.min(...records.map(({ ttl }) => ttl));
    return {
      addresses: records.map(({ address }) => ({ address, family: isIP(address) })),
      lifetimeMs: Math.min(Math.max(lifetimeMs, MIN_LIFETIME_MS), MAX_LIFETIME_MS),
    };
  }
  const codes = settled.map((result) => (result.status === "rejected" ? `${result.reason.code}` : "ENODATA"));
  const failure = codes.find((code) => code !== "ENOTFOUND" && code !== "ENODATA");
  if (isLate() || failure === "ETIMEOUT") {
    throw new CodedError("NAME_TIMEOUT", `no reply of the name server for ${name}`, { isRetryable: true });
  }
  if (failure !== undefined) throw unresolved(name, `the name server failed with ${failure}`);
  return undefined;
}

const unresolved = (name: string, reason: string) =>
  new CodedError("NAME_UNRESOLVED", `cannot resolve ${name}: ${reason}`, { isRetryable: true });
