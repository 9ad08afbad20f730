import { expect, onTestFinished, test } from "vitest";
import { Names, type NamesDeps } from "../../../src/webhooks/connections/names.ts";
import { startNameServer, type Zone } from "../../../test-support/webhooks/name-server.ts";

type Machine = { readonly hosts?: string; readonly resolvConf?: string; readonly ttl?: number };

/** Names of a machine whose name server has this zone. */
async function names(zone: Zone, { hosts = "", resolvConf = "", ttl = 60 }: Machine = {}) {
  const server = await startNameServer(zone, ttl);
  onTestFinished(server.close);
  let nowMs = 0;
  let open = 0;
  const deps: NamesDeps = {
    openResolver() {
      open++;
      return server.openResolver();
    },
    elapsedMs: () => nowMs,
    readText: (path) => (path === "/etc/hosts" ? hosts : resolvConf),
  };
  return {
    lookup: new Names(deps).lookup,
    queries: server.queries,
    lookups: () => open,
    pass(ms: number) {
      nowMs += ms;
    },
  };
}

const addresses = async (found: Promise<readonly { address: string }[]>) =>
  (await found).map(({ address }) => address);
const NOT_FOUND = { code: "NAME_NOT_FOUND", isRetryable: true };

test("A name has all of its addresses of both families.", async () => {
  const { lookup } = await names(() => ["192.0.2.1", "2001:db8::1", "192.0.2.2"]);
  expect(await lookup("receiver.example")).toEqual([
    { address: "192.0.2.1", family: 4 },
    { address: "192.0.2.2", family: 4 },
    { address: "2001:db8::1", family: 6 },
  ]);
});

test("Calls for one name share one lookup, and its addresses until their lifetime ends.", async () => {
  const { lookup, lookups, pass } = await names(() => ["192.0.2.1"], { ttl: 60 });
  await Promise.all([lookup("receiver.example"), lookup("RECEIVER.example")]);
  expect(lookups()).toBe(1);
  pass(59_999);
  await lookup("receiver.example");
  expect(lookups()).toBe(1);
  pass(1);
  await lookup("receiver.example");
  expect(lookups()).toBe(2);
});

test.each([
  [0, 5_000],
  [86_400, 300_000],
])("Addresses with a lifetime of %i s are kept for %i ms.", async (ttl, keptMs) => {
  const { lookup, lookups, pass } = await names(() => ["192.0.2.1"], { ttl });
  await lookup("receiver.example");
  pass(keptMs - 1);
  await lookup("receiver.example");
  expect(lookups()).toBe(1);
  pass(1);
  await lookup("receiver.example");
  expect(lookups()).toBe(2);
});

test("A failure is known for three seconds, and then looked up again.", async () => {
  let found: ReturnType<Zone> = "unknown";
  const { lookup, lookups, pass } = await names(() => found);
  await expect(lookup("receiver.example")).rejects.toMatchObject(NOT_FOUND);
  found = ["192.0.2.1"];
  pass(2_999);
  await expect(lookup("receiver.example")).rejects.toMatchObject(NOT_FOUND);
  expect(lookups()).toBe(1);
  pass(1);
  expect(await addresses(lookup("receiver.example"))).toEqual(["192.0.2.1"]);
});

test("A name whose server is silent fails with its own code, and delays no other name.", async () => {
  const { lookup } = await names((name) => (name.startsWith("silent") ? "silent" : ["192.0.2.1"]));
  const silent = Array.from({ length: 50 }, (_, index) => lookup(`silent-${index}.example`));
  let hasFailed = false;
  const failed = Promise.allSettled(silent).then(() => {
    hasFailed = true;
  });
  expect(await addresses(lookup("receiver.example"))).toEqual(["192.0.2.1"]);
  expect(hasFailed).toBe(false);
  await failed;
  await expect(silent[0]).rejects.toMatchObject({ code: "NAME_TIMEOUT", isRetryable: true });
});

test("The oldest of too many lookups fails.", async () => {
  const never = new Promise<never>(() => {});
  const canceled: number[] = [];
  let opened = 0;
  const { lookup } = new Names({
    openResolver() {
      const number = opened++;
      const canceling = Promise.withResolvers<never>();
      return {
        resolve4: () => canceling.promise,
        resolve6: () => canceling.promise,
        cancel() {
          canceled.push(number);
          canceling.reject(Object.assign(new Error("canceled"), { code: "ECANCELLED" }));
        },
      };
    },
    readText: () => "",
  });
  const first = lookup("0.example");
  for (let index = 1; index < 1_024; index++)
    void Promise.race([never, lookup(`${index}.example`)]).catch(() => {});
  expect(canceled).toEqual([]);
  lookup("last.example").catch(() => {});
  await expect(first).rejects.toMatchObject({ code: "NAME_TIMEOUT" });
  expect(canceled).toEqual([0]);
});

test("An address of one family is enough if the server does not reply for the other.", async () => {
  const { lookup } = new Names({
    openResolver: () => ({
      resolve4: (async () => [{ address: "192.0.2.1", ttl: 60 }]) as never,
      resolve6: async () => {
        throw Object.assign(new Error("timeout"), { code: "ETIMEOUT" });
      },
      cancel() {},
    }),
    readText: () => "",
  });
  expect(await addresses(lookup("receiver.example"))).toEqual(["192.0.2.1"]);
});

test("A failure of the name server, a long name and too many addresses are refused.", async () => {
  const many = Array.from({ length: 65 }, (_, index) => `192.0.2.${index}`);
  const { lookup } = await names((name) => (name === "many.example" ? many : "broken"));
  await expect(lookup("broken.example")).rejects.toMatchObject({
    code: "NAME_UNRESOLVED",
    message: "cannot resolve broken.example: the name server failed with ESERVFAIL",
  });
  await expect(lookup("x".repeat(255))).rejects.toMatchObject({
    code: "NAME_UNRESOLVED",
    message: `cannot resolve ${"x".repeat(20)}: it is too long`,
  });
  await expect(lookup("many.example")).rejects.toMatchObject({
    code: "NAME_UNRESOLVED",
    message: "cannot resolve many.example: it has more than 64 addresses",
  });
});

test("Names of /etc/hosts and localhost need no name server.", async () => {
  const hosts =
    "127.0.0.1 localhost\n# 192.0.2.9 commented\n192.0.2.7\tReceiver receiver.lan # note\n2001:db8::7 receiver\n";
  const { lookup, lookups } = await names(() => ["192.0.2.1"], { hosts });
  expect(await addresses(lookup("receiver"))).toEqual(["192.0.2.7", "2001:db8::7"]);
  expect(await addresses(lookup("receiver.lan."))).toEqual(["192.0.2.7"]);
  expect(await addresses(lookup("localhost"))).toEqual(["127.0.0.1"]);
  expect(await addresses(lookup("api.localhost"))).toEqual(["127.0.0.1", "::1"]);
  expect(lookups()).toBe(0);
  expect(await addresses(lookup("commented"))).toEqual(["192.0.2.1"]);
});

test("The search domains of the machine apply: first to names without a dot, last to others.", async () => {
  const known = ["receiver.ns.svc.cluster.local", "web.ns.svc.cluster.local", "receiver.example"];
  const { lookup, queries } = await names((name) => (known.includes(name) ? ["192.0.2.1"] : "unknown"), {
    resolvConf:
      "search old\nnameserver 127.0.0.1\nsearch svc.cluster.local. cluster.local\noptions ndots:5\n",
  });
  const queried = async (name: string) => {
    await lookup(name).catch(() => {});
    return [...new Set(queries())];
  };
  expect(await queried("receiver.example")).toEqual(["receiver.example"]);
  expect(await queried("receiver.ns")).toEqual(["receiver.ns", "receiver.ns.svc.cluster.local"]);
  expect(await queried("single")).toEqual(["single.svc.cluster.local", "single.cluster.local", "single"]);
  expect(await queried("absolute.")).toEqual(["absolute"]);
});
