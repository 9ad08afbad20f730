import { expect, test } from "vitest";
import { clientGroup, siteGroup } from "../../../src/platform/addresses.ts";

test("An IPv4 address is a client and a site by itself, in any notation", () => {
  for (const group of [clientGroup, siteGroup]) {
    expect(group("192.0.2.7")).toBe("192.0.2.7");
    expect(group("::ffff:192.0.2.7")).toBe("192.0.2.7");
    expect(group("192.0.2.8")).not.toBe(group("192.0.2.7"));
  }
});

test("A client of IPv6 is a /64, a site a /48", () => {
  expect(clientGroup("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2::/64");
  expect(clientGroup("2001:db8:1:2::")).toBe(clientGroup("2001:db8:1:2:ffff::1"));
  expect(clientGroup("2001:db8:1:3::1")).not.toBe(clientGroup("2001:db8:1:2::1"));
  expect(siteGroup("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1::/48");
  expect(siteGroup("2001:db8:1:3::1")).toBe(siteGroup("2001:db8:1:2::1"));
  expect(siteGroup("2001:db8:2::1")).not.toBe(siteGroup("2001:db8:1::1"));
});

test("A zone does not create another client", () => {
  expect(clientGroup("fe80::1%eth0")).toBe(clientGroup("fe80::2"));
});

test("An invalid address is unchanged", () => {
  expect(clientGroup("unknown")).toBe("unknown");
  expect(clientGroup("a:b")).toBe("a:b");
});
