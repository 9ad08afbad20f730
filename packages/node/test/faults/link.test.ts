/** Faults of a connection, on real sockets. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Link } from "../../test-support/faults/actors/link.ts";

/** A server that returns what it receives. */
async function startEcho(received: string[], prefix = ""): Promise<Server> {
  const server = createServer((socket) => {
    socket
      .on("error", () => {})
      .on("data", (bytes) => {
        received.push(bytes.toString());
        socket.write(prefix + bytes);
      });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

describe("a link", () => {
  let received: string[];
  let server: Server;
  let link: Link;
  const clients: Socket[] = [];
  beforeEach(async () => {
    received = [];
    server = await startEcho(received);
    link = new Link("primary", portOf(server));
    await link.listen();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await link.close();
    server.close();
  });

  function open() {
    const client = connect(link.port, "127.0.0.1").on("error", () => {});
    clients.push(client);
    let text = "";
    client.on("data", (bytes) => {
      text += bytes;
    });
    return { client, text: () => text, isClosed: () => client.closed };
  }

  /** Opens a connection that has sent a byte, and received it. */
  async function openUsed() {
    const opened = open();
    opened.client.write("a");
    await expect.poll(opened.text).toBe("a");
    return opened;
  }

  test("A link that is cut closes its connections, and refuses others until it is open.", async () => {
    const { isClosed } = await openUsed();
    link.become("cut");
    await expect.poll(isClosed).toBe(true);
    await expect.poll(open().isClosed).toBe(true);
    link.become("open");
    await openUsed();
  });

  test("A link that was stalled sends the bytes that it held back, even if the client has gone.", async () => {
    const { client } = await openUsed();
    link.become("stalled");
    client.end("b");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(received).toEqual(["a"]);
    client.destroy();
    link.become("open");
    await expect.poll(() => received).toEqual(["a", "b"]);
  });

  test("A link that is mute loses responses, and closes these connections when it is open again.", async () => {
    const { client, text, isClosed } = open();
    link.become("mute");
    client.write("a");
    await expect.poll(() => received).toEqual(["a"]);
    link.become("open");
    await expect.poll(isClosed).toBe(true);
    expect(text()).toBe("");
  });

  test("A link that is slow keeps the order.", async () => {
    link.become("slow");
    const { client, text } = open();
    for (const part of ["a", "b", "c"]) client.write(part);
    await expect.poll(text).toBe("abc");
  });

  test("A link leads to another server after a change of its route.", async () => {
    const other = await startEcho([], "other ");
    const first = open();
    first.client.write("a");
    await expect.poll(first.text).toBe("a");
    link.route(portOf(other));
    await expect.poll(first.isClosed).toBe(true);
    const second = open();
    second.client.write("b");
    await expect.poll(second.text).toBe("other b");
    other.close();
  });
});
