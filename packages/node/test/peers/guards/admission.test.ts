/** Admission and eviction of sessions (p2p.md 6.1 point 4). */
import { describe, expect, test } from "vitest";
import { addressGroupsOf } from "../../../src/peers/addresses.ts";
import { Admission, type AdmittedSession } from "../../../src/peers/guards/admission.ts";

function gate({ perSubnet = 10, total = 1_000, peers = [] as string[] } = {}) {
  const admission = new Admission({ perSubnet, total });
  const evicted: string[] = [];
  const enter = (address: string) =>
    admission.admit({
      address,
      isPeer: () => peers.includes(address),
      evict: () => evicted.push(address),
    });
  return {
    evicted,
    enter,
    figures: () => admission.figures(),
    /** Admits a session and finishes its handshake. */
    open(address: string): AdmittedSession | string {
      const entered = enter(address);
      if (typeof entered !== "string") entered.markOpen();
      return entered;
    },
  };
}

const count = (letIn: readonly unknown[]) => letIn.filter((one) => typeof one !== "string").length;
const times = <T>(number: number, make: (index: number) => T) =>
  Array.from({ length: number }, (_, index) => make(index));
const inNetwork = (index: number) => `2001:db8:1:2:${index.toString(16)}:${index.toString(16)}::1`;
const inSite = (index: number) => `2001:db8:1:${index.toString(16)}::1`;
/** Addresses of different /48s of different /32s. */
const elsewhere = (index: number) =>
  `2a${(index % 200).toString(16).padStart(2, "0")}:${index.toString(16)}::1`;

test("Addresses are counted by /24 of IPv4, and by /48 and /64 of IPv6.", () => {
  const keys = (address: string) => addressGroupsOf(address, 5);
  expect(keys("10.1.2.3")).toEqual([{ key: "10.1.2.0/24", max: 5 }]);
  expect(keys("2001:db8:1:2::aabb:ccdd")).toEqual([
    { key: "2001:db8:1::/48", max: 10 },
    { key: "2001:db8:1:2::/64", max: 5 },
  ]);
});

describe("sessions", () => {
  test("Sessions of one /64 have the bound of an IPv4 subnet, whatever the last bytes are.", () => {
    const { open } = gate();
    expect(count(times(1_000, (index) => open(inNetwork(index))))).toBe(10);
    expect(open("2001:db8:1:2::ffff")).toBe("subnet");
    expect(open("2001:db8:1:3::1")).toBeTypeOf("object");
  });

  test("Sessions of one /48 have twice this bound, and leave capacity for others.", () => {
    const { open, figures } = gate();
    expect(count(times(1_000, (index) => open(inSite(index))))).toBe(20);
    expect(figures().sessions).toBe(20);
    expect(open("2001:db8:2::1")).toBeTypeOf("object");
  });

  test("Sessions count until they are released.", () => {
    const { open, figures } = gate({ perSubnet: 1 });
    const first = open("10.1.2.3") as AdmittedSession;
    expect(open("10.1.2.4")).toBe("subnet");
    first.release();
    expect(open("10.1.2.4")).toBeTypeOf("object");
    // As when the socket of an evicted session closes.
    first.release();
    expect(open("10.1.2.5")).toBe("subnet");
    expect(figures()).toEqual({ sessions: 1, handshakes: 0, evicted: 0 });
  });
});

describe("at full capacity", () => {
  test("At full capacity, a session from another group evicts one of the largest group.", () => {
    const { open, evicted } = gate({ total: 100 });
    // 80 sessions of sites of one /32, the youngest site of which has two.
    for (let site = 0; site < 79; site++) open(`2001:db8:${site.toString(16)}::1`);
    open("2001:db8:4e::2");
    for (let index = 0; index < 20; index++) open(elsewhere(index));
    expect(open("10.1.2.3")).toBeTypeOf("object");
    expect(evicted).toEqual(["2001:db8:4e::2"]);
    expect(open("203.0.113.1")).toBeTypeOf("object");
    expect(evicted).toHaveLength(2);
    expect(evicted[1]).toMatch(/^2001:db8:/);
  });

  test("At full capacity, a session of a group as large as the others is refused.", () => {
    const { open, evicted } = gate({ total: 50 });
    for (let index = 0; index < 50; index++) open(elsewhere(index));
    expect(open("10.1.2.3")).toBe("total");
    expect(evicted).toEqual([]);
  });

  test("At full capacity, a peer evicts other sessions, and no other session evicts a peer.", () => {
    const peers = times(49, elsewhere);
    const { open, evicted } = gate({ total: 50, peers: [...peers, "10.1.2.3"] });
    for (const peer of peers) open(peer);
    open("203.0.113.1");
    expect(open("10.1.2.3")).toBeTypeOf("object");
    expect(evicted).toEqual(["203.0.113.1"]);
    expect(open("198.51.100.1")).toBe("total");
  });

  test("At full capacity, an unfinished handshake is evicted first.", () => {
    const { open, enter, evicted, figures } = gate({ total: 50 });
    for (let index = 0; index < 49; index++) open(elsewhere(index));
    enter("203.0.113.1");
    expect(figures()).toMatchObject({ sessions: 50, handshakes: 1 });
    expect(open("10.1.2.3")).toBeTypeOf("object");
    expect(evicted).toEqual(["203.0.113.1"]);
    expect(figures()).toEqual({ sessions: 50, handshakes: 0, evicted: 1 });
  });
});

test("In a full subnet, an address evicts a session of one that has more.", () => {
  const { open, evicted } = gate({ perSubnet: 4 });
  for (let index = 0; index < 4; index++) open("10.1.2.3");
  expect(open("10.1.2.4")).toBeTypeOf("object");
  expect(open("10.1.2.4")).toBeTypeOf("object");
  expect(open("10.1.2.4")).toBe("subnet");
  expect(evicted).toEqual(["10.1.2.3", "10.1.2.3"]);
});

test("Many sites of one region never exclude a caller from another region.", () => {
  const { open, evicted, figures } = gate();
  for (let round = 0; round < 2_000; round++) open(`2001:db8:${round.toString(16)}::1`);
  expect(figures().sessions).toBe(1_000);
  expect(count(times(100, (index) => open(`198.51.${index}.1`)))).toBe(100);
  expect(evicted).toHaveLength(100);
  expect(evicted.every((address) => address.startsWith("2001:db8:"))).toBe(true);
});
