/** Large answers, made one after another. */
import { expect, test } from "vitest";
import { createReplyQueue } from "../../../src/peers/requests/reply-queue.ts";
import { CallError } from "../../../src/peers/transport/handler.ts";

test("an answer is made when those before it are, though one fails", async () => {
  const replies = createReplyQueue({ maxPerAddress: 4 });
  const steps: string[] = [];
  const make = (name: string) => async () => {
    steps.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    steps.push(`${name} ends`);
    if (name === "b") throw new Error("gone");
    return name;
  };
  const made = ["a", "b", "c"].map((name) => replies.add(name, make(name)));
  expect((await Promise.allSettled(made)).map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "fulfilled",
  ]);
  expect(steps).toEqual(["a", "b", "c"].flatMap((name) => [`${name} begins`, `${name} ends`]));
});

test("an address has so many of them, and room again when one is made", async () => {
  const replies = createReplyQueue({ maxPerAddress: 2 });
  const first = Promise.withResolvers<string>();
  const answers = [replies.add("a", () => first.promise), replies.add("a", async () => "second")];
  expect(() => replies.add("a", async () => "third")).toThrow(CallError);
  const other = replies.add("b", async () => "other");
  first.resolve("first");
  expect(await Promise.all([...answers, other])).toEqual(["first", "second", "other"]);
  expect(await replies.add("a", async () => "third")).toBe("third");
});
