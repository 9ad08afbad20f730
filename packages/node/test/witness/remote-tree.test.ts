/** Responses of a node about its tree that a witness does not use. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { readCheckpoint, readProof } from "../../src/witness/remote-tree.ts";

/** Serves one response to every request; returns the URL. */
async function serve(content: object | string): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(typeof content === "string" ? content : JSON.stringify(content));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const { signal } = new AbortController();

const checkpoint = (data: object): object => ({
  data: { size: 1, height: 1, verifierKey: "", root: "ab".repeat(32), note: "log\n1\n", ...data },
});

test("A checkpoint has the name of its log and the root as bytes.", async () => {
  const url = await serve(checkpoint({}));
  for (const base of [url, `${url}/`])
    expect(await readCheckpoint(base, signal)).toMatchObject({ name: "log", root: Buffer.alloc(32, 0xab) });
});

test.each<[what: string, content: object | string, message: RegExp]>([
  ["invalid JSON", "<html>", /JSON/],
  ["no data", {}, /must have required property 'data'/],
  ["an invalid size", checkpoint({ size: -1 }), /\/data\/size must be >= 0/],
  ["no root", checkpoint({ root: "ab" }), /32 bytes/],
  ["too much", JSON.stringify({ data: "x".repeat(100_000) }), /longer than 65536 bytes/],
])("The checkpoint of a node with %s is refused.", async (_what, content, message) => {
  await expect(readCheckpoint(await serve(content), signal)).rejects.toMatchObject({
    code: "FACTS_UNKNOWN",
    message: expect.stringMatching(message),
  });
});

test("An invalid proof is refused.", async () => {
  await expect(readProof(await serve(checkpoint({})), 1, 2, signal)).rejects.toMatchObject({
    code: "FACTS_UNKNOWN",
    message: expect.stringMatching(/must have required property 'proof'/),
  });
});
