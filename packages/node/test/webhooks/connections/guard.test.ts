import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  createAddressCheck,
  PUBLIC_TARGETS,
  type TargetOptions,
} from "../../../src/webhooks/connections/guard.ts";
import type { Lookup } from "../../../src/webhooks/connections/names.ts";
import { DEFAULT_POST_OPTIONS, HttpPost } from "../../../src/webhooks/delivery/post.ts";

const verdicts = (options: Partial<TargetOptions>, addresses: readonly string[]) => {
  const check = createAddressCheck({ ...PUBLIC_TARGETS, ...options });
  return addresses.map((address) => [address, check(address)]);
};
const all = (verdict: boolean, addresses: readonly string[]) =>
  addresses.map((address) => [address, verdict]);

const PUBLIC = ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "64:ff9b::808:808"];
const PRIVATE = [
  "127.0.0.1",
  "10.1.2.3",
  "::1",
  "fd12::1",
  "fe80::1",
  "::ffff:10.1.2.3",
  "64:ff9b::10.1.2.3",
  "64:ff9b:1::10.1.2.3",
  "2002:a01:203::",
  "2001:0:a01:203::",
  "::10.1.2.3",
  "0.0.0.0",
  "::",
];
const METADATA = [
  "169.254.169.254",
  "::ffff:169.254.169.254",
  "64:ff9b::a9fe:a9fe",
  "169.254.170.2",
  "168.63.129.16",
  "100.100.100.200",
  "192.0.0.192",
  "fd00:ec2::254",
  "fd20:ce::254",
];

describe("an address", () => {
  test("An address passes if it is public, in any notation.", () => {
    expect(verdicts({}, PUBLIC)).toEqual(all(true, PUBLIC));
  });

  test("An address does not pass if it is private, or resolves to a private one.", () => {
    expect(verdicts({}, PRIVATE)).toEqual(all(false, PRIVATE));
  });

  test("An address does not pass if it is invalid.", () => {
    const texts = ["", "nonsense", "receiver.example", "10.0.0.1/8", "1.2.3.4.5"];
    expect(verdicts({ allowPrivateTargets: true }, texts)).toEqual(all(false, texts));
  });

  test("An address passes if it is private and private addresses are allowed.", () => {
    expect(verdicts({ allowPrivateTargets: true }, PRIVATE)).toEqual(all(true, PRIVATE));
  });

  test("An address of a metadata service passes only by name.", () => {
    expect(verdicts({}, METADATA)).toEqual(all(false, METADATA));
    expect(verdicts({ allowPrivateTargets: true }, METADATA)).toEqual(all(false, METADATA));
    expect(verdicts({ allowedNetworks: "169.254.169.254/32" }, METADATA.slice(0, 3))).toEqual(
      all(true, METADATA.slice(0, 3)),
    );
  });

  test("An address of a metadata service does not pass as one that a private network translates.", () => {
    const translated = ["64:ff9b:1::a9fe:a9fe", "::ffff:0:a9fe:a9fe", "2002:a9fe:a9fe::1"];
    expect(verdicts({ allowPrivateTargets: true }, translated)).toEqual(all(false, translated));
    const harmless = ["64:ff9b:1::a01:203", "::ffff:0:a01:203", "2002:a01:203::1"];
    expect(verdicts({ allowPrivateTargets: true }, harmless)).toEqual(all(true, harmless));
    expect(verdicts({ allowPrivateTargets: true, deniedNetworks: "10.1.0.0/16" }, harmless)).toEqual(
      all(false, harmless),
    );
    const elsewhere = ["64:ff9b:1::808:808", "::ffff:0:808:808", "2002:808:808::1"];
    expect(verdicts({}, elsewhere)).toEqual(all(false, elsewhere));
  });

  test("An address passes in an allowed network, in any notation.", () => {
    const options = { allowedNetworks: "10.1.0.0/16, fd12::/16" };
    const passing = ["10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::a01:203", "fd12::1", "8.8.8.8"];
    expect(verdicts(options, passing)).toEqual(all(true, passing));
    expect(verdicts(options, ["10.2.0.1", "fd13::1"])).toEqual(all(false, ["10.2.0.1", "fd13::1"]));
  });

  test("An address never passes in a denied network, even if it is allowed.", () => {
    const options = {
      allowPrivateTargets: true,
      allowedNetworks: "10.0.0.0/8, 2606::/16",
      deniedNetworks: "10.1.0.0/16, 8.8.8.8/32, 2606:4700::/32",
    };
    const denied = ["10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::a01:203", "8.8.8.8", "2606:4700::1111"];
    expect(verdicts(options, denied)).toEqual(all(false, denied));
    expect(verdicts(options, ["10.2.0.1", "127.0.0.1"])).toEqual(all(true, ["10.2.0.1", "127.0.0.1"]));
  });

  test("An address is denied by its notation as well.", () => {
    const options = { deniedNetworks: "64:ff9b::/96" };
    expect(verdicts(options, ["64:ff9b::808:808", "8.8.8.8"])).toEqual([
      ["64:ff9b::808:808", false],
      ["8.8.8.8", true],
    ]);
  });

  test("An address cannot be checked against an invalid network.", () => {
    expect(() => createAddressCheck({ ...PUBLIC_TARGETS, allowedNetworks: "10.0.0.1/33" })).toThrow();
    expect(() => createAddressCheck({ ...PUBLIC_TARGETS, deniedNetworks: "nonsense/8" })).toThrow();
  });
});

function sender(options: Partial<TargetOptions>, lookup?: Lookup) {
  const http = new HttpPost({ ...DEFAULT_POST_OPTIONS, ...options, timeoutMs: 2_000 }, lookup);
  onTestFinished(() => http.close());
  return (target: string) =>
    http.post(
      { id: "msg_1", webhook: 1, target, isStrict: false, headers: {}, body: "{}" },
      new AbortController().signal,
    );
}

/** Port of this machine, and the number of connections to it. */
async function listener() {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, count: () => connections };
}

/** Names of this test resolve as it says, independently of the machine's resolver. */
const leadingTo =
  (...addresses: string[]): Lookup =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

describe("a refused target", () => {
  const REFUSED = { code: "TARGET_REFUSED" };

  test("A refused target receives nothing, not even a connection.", async () => {
    const { port, count } = await listener();
    const literal = sender({});
    await expect(literal(`http://127.0.0.1:${port}/`)).rejects.toMatchObject(REFUSED);
    await expect(literal(`http://[::ffff:127.0.0.1]:${port}/`)).rejects.toMatchObject(REFUSED);
    const named = sender({}, leadingTo("127.0.0.1"));
    await expect(named(`http://receiver.example:${port}/`)).rejects.toMatchObject(REFUSED);
    const denied = sender({ allowPrivateTargets: true, deniedNetworks: "127.0.0.0/8" });
    await expect(denied(`http://127.0.0.1:${port}/`)).rejects.toMatchObject(REFUSED);
    // A target that is not refused connects to the same port: the test would notice it.
    await expect(
      sender({ allowPrivateTargets: true })(`http://127.0.0.1:${port}/`),
    ).rejects.not.toMatchObject(REFUSED);
    await expect.poll(count).toBe(1);
  });

  test("A name that moved to a private address after its registration is a refused target.", async () => {
    const server = createHttpServer((_request, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    let address = "127.0.0.1";
    const moving: Lookup = (hostname) => leadingTo(address)(hostname);
    const first = sender({ allowedNetworks: "127.0.0.1/32" }, moving);
    expect((await first(`http://receiver.example:${port}/`)).status).toBe(200);
    address = "127.0.0.2";
    const later = sender({ allowedNetworks: "127.0.0.1/32" }, moving);
    await expect(later(`http://receiver.example:${port}/`)).rejects.toMatchObject(REFUSED);
  });
});
