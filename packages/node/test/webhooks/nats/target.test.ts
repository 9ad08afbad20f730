/** Targets on NATS servers, in requests to the register. */
import { describe, expect, test } from "vitest";
import { createAddressCheck, PUBLIC_TARGETS } from "../../../src/webhooks/connections/guard.ts";
import { parseNatsTarget } from "../../../src/webhooks/model/targets.ts";
import { always, createService } from "../../../test-support/webhooks/support.ts";

const create = (target: string, options: object = {}) =>
  createService({ options }).webhooks.register.create(always("block.applied", target));

describe("the URL of a subject", () => {
  test("The URL of a subject has a host and a subject; port and credentials are optional.", () => {
    const plain = { isSecure: false, port: 4_222, credentials: undefined, subject: "chain" };
    expect(parseNatsTarget("nats://nats.example/chain")).toEqual({ ...plain, host: "nats.example" });
    expect(parseNatsTarget("NATS://nats.example:80/chain.Blocks-1_a")).toEqual({
      ...plain,
      ...{ host: "nats.example", port: 80, subject: "chain.Blocks-1_a" },
    });
    expect(parseNatsTarget("tls://[2001:db8::1]:4223/chain")).toEqual({
      ...plain,
      ...{ isSecure: true, host: "2001:db8::1", port: 4_223 },
    });
    expect(parseNatsTarget("nats://user:p%40s:s@nats.example/chain")).toEqual({
      ...plain,
      ...{ host: "nats.example", credentials: { user: "user", pass: "p@s:s" } },
    });
    expect(parseNatsTarget("nats://t%20k@nats.example/chain")).toMatchObject({
      credentials: { token: "t k" },
    });
  });

  test.each(["nats://0x7f.1/chain", "nats://2130706433/chain", "nats://127.1/chain"])(
    "The URL of a subject names an address in any form: %s.",
    (target) => {
      expect(parseNatsTarget(target)?.host).toBe("127.0.0.1");
    },
  );

  test.each([
    ...["nats://nats.example", "nats://nats.example/", "nats:///chain", "nats://:4222/chain", "nats:chain"],
    ...[
      "nats://h/chain.*",
      "nats://h/chain.>",
      "nats://h/a b",
      "nats://h/a..b",
      "nats://h/.a",
      "nats://h/a.",
    ],
    ...[
      "nats://h/a/b",
      "nats://h/a?b",
      "nats://h/a#b",
      "nats://h/a%20b",
      "nats://h/$JS.API.INFO",
      "nats://h/é",
    ],
    ...[
      "nats://h:0/a",
      "nats://h:65536/a",
      "nats://h:x/a",
      "nats://h\\x/a",
      "nats://a@b@h/a",
      "nats://%zz@h/a",
    ],
    ...["nats://[::1/a", "nats://a b/c", `nats://h/${"a".repeat(256)}`],
  ])("The URL of a subject is refused at registration: %s.", async (target) => {
    expect(parseNatsTarget(target)).toBeUndefined();
    await expect(create(target)).rejects.toThrow('"target" must have the form nats://HOST:PORT/SUBJECT');
  });

  test("The URL of a subject can have a subject of 255 characters, and is returned as given.", async () => {
    const target = `NATS://user:pass@nats.example/${"a".repeat(255)}`;
    expect(await create(target)).toMatchObject({ target });
  });

  test("The URL of a subject must not name an address that deliveries may not reach.", async () => {
    const isTargetAddress = createAddressCheck(PUBLIC_TARGETS);
    for (const host of ["127.0.0.1", "[::1]", "localhost", "LOCALHOST", "0x7f.1", "169.254.169.254"]) {
      await expect(create(`nats://${host}/chain`, { isTargetAddress })).rejects.toMatchObject({
        code: "TARGET_REFUSED",
      });
    }
    await expect(create("nats://192.0.2.1/chain", { isTargetAddress })).rejects.toMatchObject({
      code: "TARGET_REFUSED",
    });
    expect(await create("nats://8.8.8.8/chain", { isTargetAddress })).toMatchObject({ id: 1 });
  });
});
