import { expect, test } from "vitest";
import { readCidrs } from "../../src/config/cidr.ts";
import { runOptions } from "../../src/config/options.ts";
import { resolveConfig } from "../../src/config/resolve.ts";

test.each([
  ["10.1.0.0/16", ["10.1.0.0/16"]],
  ["10.1.0.0/16, fd00::/8", ["10.1.0.0/16", "fd00::/8"]],
  [
    ["10.1.0.0/16", "fd00::/8"],
    ["10.1.0.0/16", "fd00::/8"],
  ],
  ["192.168.1.7,::1", ["192.168.1.7/32", "::1/128"]],
  [[], []],
])("%j is a list of networks", (value, networks) => {
  expect(readCidrs(value)).toEqual(networks);
});

test.each(["", "10.0.0.0/33", "10.0.0.0/8,", "receiver.example", "7", [7], 7, { a: 1 }, null])(
  "%j is none",
  (value) => {
    expect(() => readCidrs(value)).toThrow("a list of networks such as 10.1.0.0/16,fd00::/8 is expected");
  },
);

test("webhooks reach and avoid the networks of the configuration", () => {
  const environment = { UNIKNODE_WEBHOOK_DENY: "10.1.0.0/16" };
  const flags = { webhookAllow: "10.0.0.0/8", webhookHttpsOnly: true };
  expect(resolveConfig(runOptions, { flags, environment })).toMatchObject({
    webhookAllow: ["10.0.0.0/8"],
    webhookDeny: ["10.1.0.0/16"],
    webhookHttpsOnly: true,
  });
  expect(resolveConfig(runOptions, { flags: {}, environment: {} })).toMatchObject({
    webhookAllow: [],
    webhookDeny: [],
    webhookHttpsOnly: false,
  });
  const wrong = { flags: { webhookDeny: "10.0.0.0/99" }, environment: {} };
  expect(() => resolveConfig(runOptions, wrong)).toThrow("--webhook-deny: a list of networks");
});
