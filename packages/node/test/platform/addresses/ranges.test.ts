import { expect, test } from "vitest";
import { createRangeTest } from "../../../src/platform/addresses.ts";

test("The range test accepts addresses and networks of both families.", () => {
  const isListed = createRangeTest("192.0.2.7, 10.0.0.0/8,2001:db8::/32");
  for (const address of ["192.0.2.7", "10.255.0.1", "::ffff:10.0.0.1", "2001:db8::5"]) {
    expect(isListed(address), address).toBe(true);
  }
  for (const address of ["192.0.2.8", "11.0.0.1", "2001:db9::5", "::ffff:11.0.0.1", "unknown", ""]) {
    expect(isListed(address), address).toBe(false);
  }
});

test("An asterisk matches every address, an empty list none.", () => {
  expect(createRangeTest("10.0.0.1,*")("203.0.113.1")).toBe(true);
  expect(createRangeTest("")("203.0.113.1")).toBe(false);
});

test("Patterns match the same addresses as in the old network.", () => {
  const isListed = createRangeTest("192.168.*, 10.0.0.?,172.16.*.1");
  for (const address of ["192.168.0.1", "::ffff:192.168.255.9", "10.0.0.7", "172.16.30.1"]) {
    expect(isListed(address), address).toBe(true);
  }
  for (const address of ["192.169.0.1", "10.0.0.17", "110.0.0.7", "172.16.30.2", "2001:db8::1"]) {
    expect(isListed(address), address).toBe(false);
  }
});

test.each(["10.0.0.0/33", "2001:*", "10.*.x", "example.org", "10.0.0.1-10.0.0.9"])(
  "The range test refuses %s and names it.",
  (entry) => {
    expect(() => createRangeTest(`10.0.0.1,${entry}`)).toThrow(entry);
  },
);
