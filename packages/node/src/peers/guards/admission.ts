/**
 * Admits sessions, and evicts others if the capacity is exhausted (p2p.md 6.1 point 4). Sessions are counted
 * in nested groups: all, the region, the subnets, the address. In a full group, a new session evicts one of
 * lower priority: a session without a handshake, a session of an address that is not a peer, or one of a
 * larger group.
 */
import { addressGroupsOf, regionOf } from "../addresses.ts";

export type AdmissionLimits = {
  /** Sessions of a /24 of IPv4 or a /64 of IPv6; a /48 may have twice as many. */
  readonly perSubnet: number;
  readonly total: number;
};

/** A session that requests admission. */
export type IncomingSession = {
  /** Normalized. */
  readonly address: string;
  /** Returns true if the address is that of a peer or of a separate forger. */
  readonly isPeer: () => boolean;
  /** Ends the session to make room; it is released already. */
  readonly evict: () => void;
};

export type AdmittedSession = {
  /** The handshake is done. */
  markOpen(): void;
  /** Frees its capacity; without effect the second time. */
  release(): void;
};

/** The exceeded limit: on all sessions, or on a subnet. */
export type CapacityLimit = "total" | "subnet";

type Group = { readonly key: string; readonly max: number; readonly members: Set<Session> };

type Session = IncomingSession & {
  /** Groups that count it, largest first. */
  readonly groups: readonly Group[];
  isOpen: boolean;
};

export class Admission {
  readonly #perSubnet: number;
  /** The group of all sessions. */
  readonly #all: Group;
  /** Groups with members, by key. */
  readonly #groups = new Map<string, Group>();
  #evicted = 0;

  constructor({ perSubnet, total }: AdmissionLimits) {
    this.#perSubnet = perSubnet;
    this.#all = { key: "all", max: total, members: new Set() };
  }

  /** Admits a session, which counts until it is released; or returns the limit that is reached. */
  admit(incoming: IncomingSession): AdmittedSession | CapacityLimit {
    // During the comparison, a new session ranks like one that has finished its handshake.
    const session: Session = { ...incoming, groups: this.#groupsOf(incoming.address), isOpen: true };
    const full = session.groups.findLast(({ max, members }) => members.size >= max);
    if (!full) this.#add(session);
    else if (!this.#replace(session, full)) return full === this.#all ? "total" : "subnet";
    session.isOpen = false;
    return {
      markOpen() {
        session.isOpen = true;
      },
      release: () => this.#remove(session),
    };
  }

  figures(): { readonly sessions: number; readonly handshakes: number; readonly evicted: number } {
    const { members } = this.#all;
    const handshakes = [...members].filter(({ isOpen }) => !isOpen).length;
    return { sessions: members.size, handshakes, evicted: this.#evicted };
  }

  #groupsOf(address: string): readonly Group[] {
    const groupOf = ({ key, max }: Pick<Group, "key" | "max">): Group =>
      this.#groups.get(key) ?? { key, max, members: new Set() };
    return [
      this.#all,
      groupOf({ key: regionOf(address), max: Infinity }),
      ...addressGroupsOf(address, this.#perSubnet).map(groupOf),
      groupOf({ key: address, max: Infinity }),
    ];
  }

  #add(session: Session): void {
    for (const group of session.groups) {
      group.members.add(session);
      this.#groups.set(group.key, group);
    }
  }

  #remove(session: Session): void {
    for (const { key, members } of session.groups) {
      if (members.delete(session) && members.size === 0) this.#groups.delete(key);
    }
  }

  /** Evicts a session of a full group for a new one; false if none has a lower priority. */
  #replace(session: Session, full: Group): boolean {
    const least = findLeast(full.members);
    // The new session counts in its groups during the comparison: groups of equal size would evict each other for ever.
    this.#add(session);
    if (!least || !isEvictedFor(least, session)) {
      this.#remove(session);
      return false;
    }
    this.#remove(least);
    this.#evicted++;
    least.evict();
    return true;
  }
}

/** Peers first, then other sessions, then sessions without a handshake. */
const rankOf = ({ isPeer, isOpen }: Session): number => (isPeer() ? 0 : isOpen ? 1 : 2);

/** The session that is evicted first: by its rank, then by the sizes of its groups; of equals, the youngest one. */
function findLeast(sessions: ReadonlySet<Session>): Session | undefined {
  let least: Session | undefined;
  let rank = 0;
  for (const session of sessions) {
    const ownRank = rankOf(session);
    if (least && (rank > ownRank || (rank === ownRank && isInLargerGroup(least, session)))) continue;
    least = session;
    rank = ownRank;
  }
  return least;
}

/** Returns true if the groups of a session are larger than the groups of a younger one at the first difference. */
function isInLargerGroup({ groups }: Session, younger: Session): boolean {
  for (const [index, { members }] of groups.entries()) {
    const size = younger.groups[index]?.members.size ?? 0;
    if (members.size !== size) return members.size > size;
  }
  return false;
}

/** Returns true if a session has a lower rank than another, or a larger group where their groups differ. */
function isEvictedFor(one: Session, other: Session): boolean {
  const byRank = rankOf(one) - rankOf(other);
  if (byRank !== 0) return byRank > 0;
  for (const [index, group] of one.groups.entries()) {
    const counterpart = other.groups[index];
    if (group !== counterpart) return group.members.size > (counterpart?.members.size ?? 0);
  }
  return false;
}
