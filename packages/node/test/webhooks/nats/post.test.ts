/** Deliveries to a real NATS server. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { StreamAdmin } from "../../../test-support/nats/admin.ts";
import { type LossyProxy, startLossyProxy } from "../../../test-support/nats/proxy.ts";
import {
  MAX_PAYLOAD,
  missingForNats,
  type NatsServer,
  startNatsServer,
} from "../../../test-support/nats/server.ts";
import { skips } from "../../../test-support/process/available.ts";
import { until } from "../../../test-support/process/until.ts";
import { createSender, HEADERS } from "./support.ts";

const isSkipped = skips(missingForNats());
const WINDOW_MS = 100;
const strict = { isStrict: true } as const;

describe.skipIf(isSkipped)("a delivery to a NATS subject", () => {
  let server: NatsServer;
  let admin: StreamAdmin;
  let probes = 0;
  beforeAll(async () => {
    server = await startNatsServer();
    admin = await server.admin();
    await admin.create({ name: "CHAIN", subjects: ["chain.>"] });
    await admin.create({ name: "SHORT", subjects: ["short.>", "chain-short.>"], duplicateMs: WINDOW_MS });
  });
  afterAll(async () => {
    await admin?.close();
    await server?.remove();
  });

  /** Target of the administrator, who can publish to all subjects. */
  const target = (subject: string, port?: number) =>
    server.urlOf(subject, { user: "admin:admin", ...(port !== undefined && { port }) });
  const ids = async (subject: string) =>
    (await admin.messages(subject.startsWith("short") ? "SHORT" : "CHAIN", subject)).map(
      ({ headers }) => headers["Nats-Msg-Id"] ?? "other",
    );
  /** Waits until the server no longer knows the ids of earlier messages: the window of this one began after theirs. */
  async function idsForgotten(): Promise<void> {
    const { send } = createSender();
    const probe = `probe-${++probes}`;
    await send(probe, target("short.probes"));
    await until("the server forgets ids", async () => !(await send(probe, target("short.probes"))).duplicate);
  }
  type Send = ReturnType<typeof createSender>["send"];
  /** Sends in strict order, and ends the attempt when its acknowledgement was lost. */
  async function loseAcknowledgement(proxy: LossyProxy, send: Send, id: string, to: string): Promise<void> {
    proxy.loseReplies(true);
    const ended = new AbortController();
    const sent = send(id, to, { ...strict, signal: ended.signal });
    await Promise.race([sent, proxy.intercepted()]);
    ended.abort(new Error("late"));
    await expect(sent).rejects.toThrow("late");
    proxy.loseReplies(false);
  }
  async function openProxy() {
    const proxy = await startLossyProxy(server.port);
    onTestFinished(proxy.close);
    return proxy;
  }

  test("A delivery to a NATS subject is one message with its id, the signature and the body.", async () => {
    const { send } = createSender();
    const acknowledgement = await send("msg_1", server.urlOf("chain.one"), { body: '{"é":1}' });
    const [message, ...others] = await admin.messages("CHAIN", "chain.one");
    expect(others).toEqual([]);
    expect(message).toEqual({
      sequence: acknowledgement.seq,
      subject: "chain.one",
      headers: { ...HEADERS, "Nats-Msg-Id": "msg_1" },
      body: '{"é":1}',
    });
    expect(acknowledgement).toEqual({ stream: "CHAIN", seq: message?.sequence });
  });

  test("A delivery to a NATS subject is stored once within the duplicate window.", async () => {
    const { send } = createSender();
    const { seq } = await send("msg_twice", target("chain.window"));
    expect(await send("msg_twice", target("chain.window"))).toEqual({
      stream: "CHAIN",
      seq,
      duplicate: true,
    });
    expect(await ids("chain.window")).toEqual(["msg_twice"]);
  });

  test.each([false, true])(
    "A delivery to a NATS subject is stored again after each purge of its copy within the window (strict: %s).",
    async (isStrict) => {
      const [id, stream, subject] = [`msg_purged_${isStrict}`, `PURGED-${isStrict}`, `purged-${isStrict}.a`];
      await admin.create({ name: stream, subjects: [subject] });
      const { send } = createSender();
      const again = () => send(id, target(subject), { isStrict });
      const stored = async () => (await admin.messages(stream)).map(({ headers }) => headers["Nats-Msg-Id"]);
      await again();
      for (const copy of [`${id}:1`, `${id}:2`]) {
        await admin.purge(stream);
        expect(await again()).not.toHaveProperty("duplicate");
        expect(await again()).toHaveProperty("duplicate", true);
        expect(await stored()).toEqual([copy]);
      }
      const [message] = await admin.messages(stream);
      expect(message?.headers).toMatchObject(HEADERS);
    },
  );

  test("A delivery to a NATS subject shares the connection with all others of the server and user.", async () => {
    const { send, connections } = createSender();
    const targets = Array.from({ length: 20 }, (_, index) => target(`chain.shared-${index}`));
    await Promise.all(targets.map((each, index) => send(`msg_shared_${index}`, each, { webhook: index })));
    expect(connections()).toBe(1);
    await send("msg_other_user", server.urlOf("chain.shared"));
    expect(connections()).toBe(2);
  });

  describe("in strict order", () => {
    test("A delivery in strict order names the last message of the subject.", async () => {
      const { send } = createSender();
      const acknowledged = [];
      for (const id of ["a", "b", "c"])
        acknowledged.push((await send(id, target("short.order"), strict)).seq);
      const expected = (await admin.messages("SHORT", "short.order")).map(
        ({ headers }) => headers["Nats-Expected-Last-Subject-Sequence"],
      );
      expect(expected).toEqual(["0", ...acknowledged.slice(0, 2).map(String)]);
    });

    test("A delivery in strict order is found in the stream if its acknowledgement was lost, after the duplicate window.", async () => {
      const proxy = await openProxy();
      const { send } = createSender();
      const through = target("short.lost", proxy.port);
      await send("lost-1", through, strict);
      await loseAcknowledgement(proxy, send, "lost-2", through);
      await idsForgotten();
      expect(await send("lost-2", through, strict)).toMatchObject({ stream: "SHORT", duplicate: true });
      expect(await send("lost-3", through, strict)).not.toHaveProperty("duplicate");
      expect(await ids("short.lost")).toEqual(["lost-1", "lost-2", "lost-3"]);
    });

    test("A delivery in strict order is found after a restart of the sender.", async () => {
      const proxy = await openProxy();
      const first = createSender();
      await first.send("restart-1", target("short.restart", proxy.port), strict);
      await loseAcknowledgement(proxy, first.send, "restart-2", target("short.restart", proxy.port));
      await first.close();
      await idsForgotten();
      const second = createSender();
      expect(await second.send("restart-2", target("short.restart"), strict)).toMatchObject({
        duplicate: true,
      });
      await second.send("restart-3", target("short.restart"), strict);
      expect(await ids("short.restart")).toEqual(["restart-1", "restart-2", "restart-3"]);
    });

    test("A delivery in strict order is found below messages of other publishers, in several attempts if they are many.", async () => {
      const proxy = await openProxy();
      const { send } = createSender();
      const through = target("short.others", proxy.port);
      await send("others-1", through, strict);
      await admin.publish("short.others", 150);
      // The server refuses the message because of the others; the sender does not know.
      await loseAcknowledgement(proxy, send, "others-2", through);
      await idsForgotten();
      await admin.publish("short.others", 3);
      await expect(send("others-2", through, strict)).rejects.toMatchObject({ code: "NATS_SHARED_SUBJECT" });
      await send("others-2", through, strict);
      expect((await ids("short.others")).filter((id) => id !== "other")).toEqual(["others-1", "others-2"]);
    });

    test("A delivery in strict order is found below a ping that followed it.", async () => {
      const proxy = await openProxy();
      const { send } = createSender();
      const through = target("short.ping", proxy.port);
      await send("ping-1", through, strict);
      await loseAcknowledgement(proxy, send, "ping-2", through);
      await idsForgotten();
      await send("ping", through);
      expect(await send("ping-2", through, strict)).toMatchObject({ duplicate: true });
      await send("ping-3", through, strict);
      expect(await ids("short.ping")).toEqual(["ping-1", "ping-2", "ping", "ping-3"]);
    });

    test("A delivery in strict order follows messages of other publishers, and a purge, in the same attempt.", async () => {
      const { send } = createSender();
      await send("busy-1", target("short.busy"), strict);
      await admin.publish("short.busy", 2);
      await send("busy-2", target("short.busy"), strict);
      expect(await ids("short.busy")).toEqual(["busy-1", "other", "other", "busy-2"]);
      await admin.create({ name: "PURGED", subjects: ["purged"] });
      await send("purged-1", target("purged"), strict);
      await admin.purge("PURGED");
      await send("purged-2", target("purged"), strict);
      expect(await admin.messages("PURGED")).toHaveLength(1);
    });

    test("A delivery in strict order refuses a late copy of a process that no longer owns the webhook.", async () => {
      const proxy = await openProxy();
      const [former, current] = [createSender(), createSender()];
      await former.send("late-1", target("short.late", proxy.port), strict);
      proxy.hold();
      const ended = new AbortController();
      const sent = Promise.allSettled([
        former.send("late-2", target("short.late", proxy.port), { ...strict, signal: ended.signal }),
        former.send("late-4", target("short.late-parallel", proxy.port), { signal: ended.signal }),
      ]);
      await Promise.all(["late-2", "late-4"].map(proxy.holds));
      ended.abort(new Error("late"));
      expect((await sent).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
      await current.send("late-2", target("short.late"), strict);
      await current.send("late-3", target("short.late"), strict);
      await idsForgotten();
      proxy.release();
      // It follows late-2 in the same connection.
      await expect.poll(() => ids("short.late-parallel")).toEqual(["late-4"]);
      expect(await ids("short.late")).toEqual(["late-1", "late-2", "late-3"]);
    });

    test("A delivery in strict order is found if its acknowledgement arrives after the end of the attempt.", async () => {
      const proxy = await openProxy();
      const { send } = createSender();
      const through = target("short.acknowledged", proxy.port);
      await send("acknowledged-1", through, strict);
      const ended = new AbortController();
      proxy.holdReplies();
      const sent = send("acknowledged-2", through, { ...strict, signal: ended.signal });
      await expect.poll(() => ids("short.acknowledged")).toHaveLength(2);
      ended.abort(new Error("late"));
      await expect(sent).rejects.toThrow("late");
      proxy.releaseReplies();
      await idsForgotten();
      expect(await send("acknowledged-2", through, strict)).toMatchObject({ duplicate: true });
      expect(await ids("short.acknowledged")).toEqual(["acknowledged-1", "acknowledged-2"]);
    });

    test("A delivery in strict order is found in the stream if it was located after the end of the attempt.", async () => {
      const proxy = await openProxy();
      const former = createSender();
      await former.send("located-1", target("short.located"), strict);
      await idsForgotten();
      const { send } = createSender();
      const through = target("short.located", proxy.port);
      await send("located", target("short.located-other", proxy.port), strict);
      const ended = new AbortController();
      proxy.holdReplies();
      const sent = send("located-1", through, { ...strict, signal: ended.signal });
      await proxy.intercepted();
      ended.abort(new Error("late"));
      await expect(sent).rejects.toThrow("late");
      proxy.releaseReplies();
      await idsForgotten();
      expect(await send("located-1", through, strict)).toMatchObject({ duplicate: true });
      expect(await ids("short.located")).toEqual(["located-1"]);
    });

    test("A delivery in strict order is not published after its attempt has ended.", async () => {
      const proxy = await openProxy();
      const { send } = createSender();
      const through = target("short.aborted", proxy.port);
      const abort = new AbortController();
      proxy.hold();
      const sent = send("aborted-1", through, { ...strict, signal: abort.signal });
      await proxy.intercepted();
      abort.abort(new Error("closed"));
      await expect(sent).rejects.toThrow("closed");
      proxy.release();
      await send("aborted-2", through);
      expect(await ids("short.aborted")).toEqual(["aborted-2"]);
    });
  });

  test("A delivery to a NATS subject in parallel order can be stored again after the duplicate window.", async () => {
    const { send } = createSender();
    await send("parallel-1", target("short.parallel"));
    await idsForgotten();
    await send("parallel-1", target("short.parallel"));
    expect(await ids("short.parallel")).toEqual(["parallel-1", "parallel-1"]);
  });

  describe("fails with the reason", () => {
    const failure = (code: string, reason: RegExp) => ({ code, message: expect.stringMatching(reason) });

    test("A delivery fails with the reason if no stream has the subject, in both orders.", async () => {
      const { send } = createSender();
      const missing = failure(
        "NATS_NO_STREAM",
        /^no stream of the server has the subject nowhere, or JetStream/,
      );
      await expect(send("a", target("nowhere"))).rejects.toMatchObject(missing);
      await expect(send("a", target("nowhere"), strict)).rejects.toMatchObject(missing);
    });

    test("A delivery fails with the reason if user, password or token are wrong or missing.", async () => {
      const { send } = createSender();
      for (const user of ["node:wrong", "guest:x", "token"]) {
        await expect(send("a", server.urlOf("chain.a", { user }))).rejects.toMatchObject(
          failure("NATS_AUTHORIZATION", /Authorization Violation/i),
        );
      }
      await expect(send("a", `nats://127.0.0.1:${server.port}/chain.a`)).rejects.toMatchObject({
        code: "NATS_AUTHORIZATION",
      });
    });

    test("A delivery fails with the reason if the user lacks a permission.", async () => {
      const { send } = createSender();
      await expect(send("a", server.urlOf("short.a"))).rejects.toMatchObject(
        failure("NATS_PERMISSION", /Publish to "short.a"/),
      );
      expect(await send("a", server.urlOf("chain.a"), strict)).toMatchObject({ stream: "CHAIN" });
    });

    test("A delivery fails with the reason if the stream is full; it succeeds when there is room.", async () => {
      await admin.create({ name: "FULL", subjects: ["full"], maxMessages: 1 });
      const { send } = createSender();
      await send("a", target("full"));
      const full = failure("NATS_10077", /^the server refused the message: maximum messages exceeded/);
      await expect(send("b", target("full"))).rejects.toMatchObject(full);
      await expect(send("b", target("full"), strict)).rejects.toMatchObject(full);
      await admin.purge("FULL");
      await send("b", target("full"), strict);
    });

    test("A delivery fails with the reason if the message is too large for the server.", async () => {
      const { send } = createSender();
      await expect(send("a", target("chain.a"), { body: "x".repeat(MAX_PAYLOAD) })).rejects.toMatchObject({
        code: "NATS_TOO_LARGE",
      });
    });

    test("A delivery fails with the reason if a subscriber takes the message without a stream.", async () => {
      admin.subscribe("silent");
      admin.subscribe("talking", '{"ok":true}');
      admin.subscribe("chattering", "hello");
      const impatient = createSender({ timeoutMs: 1_000 });
      await expect(impatient.send("a", target("silent"))).rejects.toMatchObject({ code: "TimeoutError" });
      // A connection without a reply is not used again.
      await expect.poll(impatient.connections).toBe(0);
      const { send } = createSender();
      await expect(send("a", target("talking"))).rejects.toMatchObject({ code: "NATS_PROTOCOL" });
      await expect(send("a", target("chattering"))).rejects.toMatchObject({ code: "NATS_PROTOCOL" });
    });
  });

  test("A delivery to a NATS subject fails while the server is down, and succeeds after its restart.", async () => {
    const other = await startNatsServer();
    onTestFinished(other.remove);
    const setUp = await other.admin();
    await setUp.create({ name: "CHAIN", subjects: ["chain.>"] });
    const { send, connections } = createSender();
    await send("a", other.urlOf("chain.down"), strict);
    await other.end("SIGKILL");
    await expect.poll(connections).toBe(0);
    await expect(send("b", other.urlOf("chain.down"), strict)).rejects.toMatchObject({
      code: "ECONNREFUSED",
    });
    await other.start();
    await send("b", other.urlOf("chain.down"), strict);
    const after = await other.admin();
    expect(await after.messages("CHAIN")).toHaveLength(2);
    await after.close();
  });

  test("A delivery to a NATS subject ends with the sender.", async () => {
    const { send, close, connections } = createSender();
    await send("a", target("chain.closed"));
    await close();
    await expect.poll(connections).toBe(0);
  });
});
