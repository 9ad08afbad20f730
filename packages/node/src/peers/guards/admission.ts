/**
 * How many sessions others may hold, and who makes room for whom (p2p.md 6.1 point 4). Sessions are counted in groups within
 * groups: all of them, the region, the subnets, the address. Where a group is full, a newcomer takes the place of a
 * session that is worth less: one of a stranger for a peer, an unfinished handshake, one of a neighbour who has more.
 */
import { addressGroupsOf, regionOf } from "../addresses.ts";

export type AdmissionLimits = {
  /** Of a /24 of IPv4 or a /64 of IPv6; a /48 has room for twice as many. */
  readonly perSubnet: number;
  readonly total: number;
};

/** What there is of a session. */
export type Newcomer = {
  /** Plain. */
  readonly address: string;
  /** Whether the address is that of a peer or of a separate forger. */
  readonly isPeer: () => boolean;
  /** Ends the session to make room; it has left then. */
  readonly evict: () => void;
};

export type AdmittedSession = {
  /** The handshake is done. */
  opened(): void;
  /** Without effect the second time. */
  leave(): void;
};

/** Why there was no room: every place is taken, or those of the subnet are. */
export type CapacityLimit = "total" | "subnet";

export type Admission = {
  /** Whether there is room for a session, which then counts until it leaves. */
  enter(newcomer: Newcomer): AdmittedSession | CapacityLimit;
  figures(): { readonly sessions: number; readonly handshakes: number; readonly evicted: number };
};

type Group = { readonly key: string; readonly max: number; readonly members: Set<Session> };

type Session = Newcomer & {
  /** Groups that it is counted in, the largest first. */
  readonly groups: readonly Group[];
  isOpen: boolean;
};

const EVERYBODY = "everybody";

export function createAdmission({ perSubnet, total }: AdmissionLimits): Admission {
  /** Those that have members, by key. */
  const groups = new Map<string, Group>();
  const everybody = { key: EVERYBODY, max: total, members: new Set<Session>() };
  let evicted = 0;

  const groupOf = ({ key, max }: { readonly key: string; readonly max: number }): Group =>
    groups.get(key) ?? { key, max, members: new Set() };

  const groupsOf = (address: string): readonly Group[] => [
    everybody,
    groupOf({ key: regionOf(address), max: Infinity }),
    ...addressGroupsOf(address, perSubnet).map(groupOf),
    groupOf({ key: address, max: Infinity }),
  ];

  function add(session: Session): void {
    for (const group of session.groups) {
      group.members.add(session);
      groups.set(group.key, group);
    }
  }

  function remove(session: Session): void {
    for (const { key, members } of session.groups) {
      if (members.delete(session) && members.size === 0) groups.delete(key);
    }
  }

  /** Takes the place of a session of a full group; false if none is worth less. */
  function replace(session: Session, full: Group): boolean {
    const least = [...full.members]
      .map(weighed)
      .reduce((one, other) => (weighsMore(one, other) ? one : other));
    // It counts in its groups when the two are compared: groups of the same size would change places for ever.
    add(session);
    if (!isWorthLess(least.session, session)) {
      remove(session);
      return false;
    }
    remove(least.session);
    evicted++;
    least.session.evict();
    return true;
  }

  return {
    enter(newcomer) {
      // A stranger who has just come is worth as much as one who is there.
      const session: Session = { ...newcomer, groups: groupsOf(newcomer.address), isOpen: true };
      const full = session.groups.findLast(({ max, members }) => members.size >= max);
      if (!full) add(session);
      else if (!replace(session, full)) return full === everybody ? "total" : "subnet";
      session.isOpen = false;
      return {
        opened() {
          session.isOpen = true;
        },
        leave: () => remove(session),
      };
    },
    figures() {
      const handshakes = [...everybody.members].filter(({ isOpen }) => !isOpen).length;
      return { sessions: everybody.members.size, handshakes, evicted };
    },
  };
}

/** Peers first, then strangers, then those who have not shaken hands. */
const rankOf = ({ isPeer, isOpen }: Session): number => (isPeer() ? 0 : isOpen ? 1 : 2);

/** A session with what speaks against it, the weightiest first: its rank, and the sizes of its groups. */
type Weighed = { readonly session: Session; readonly weights: readonly number[] };

const weighed = (session: Session): Weighed => ({
  session,
  weights: [rankOf(session), ...session.groups.map(({ members }) => members.size)],
});

/** Whether more speaks against the first; of equals, the younger one weighs more. */
function weighsMore({ weights }: Weighed, younger: Weighed): boolean {
  const differing = weights.findIndex((weight, index) => weight !== younger.weights[index]);
  return differing !== -1 && weights[differing]! > (younger.weights[differing] ?? 0);
}

/** Whether a session is of a lower rank than another, or of a larger group where their groups part. */
function isWorthLess(one: Session, other: Session): boolean {
  const byRank = rankOf(one) - rankOf(other);
  if (byRank !== 0) return byRank > 0;
  const parting = one.groups.findIndex((group, index) => group !== other.groups[index]);
  return parting !== -1 && one.groups[parting]!.members.size > other.groups[parting]!.members.size;
}
