/** Queue of large replies. */
import { expect, test } from "vitest";
import { ReplyQueue } from "../../../src/peers/requests/handlers.ts";
import { ReplyError } from "../../../src/peers/transport/calls.ts";

test("Replies are built one after another, even if one fails.", async () => {
  const replies = new ReplyQueue({ maxPerClient: 4 });
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

test("An address has a bound on its replies, and capacity again when one is built.", async () => {
  const replies = new ReplyQueue({ maxPerClient: 2 });
  const first = Promise.withResolvers<string>();
  const results = [replies.add("a", () => first.promise), replies.add("a", async () => "second")];
  expect(() => replies.add("a", async () => "third")).toThrow(ReplyError);
  const other = replies.add("b", async () => "other");
  first.resolve("first");
  expect(await Promise.all([...results, other])).toEqual(["first", "second", "other"]);
  expect(await replies.add("a", async () => "third")).toBe("third");
});

test("The addresses of one IPv6 client have one bound on their replies.", async () => {
  const replies = new ReplyQueue({ maxPerClient: 2 });
  const first = Promise.withResolvers<string>();
  const results = [
    replies.add("2001:db8::1", () => first.promise),
    replies.add("2001:db8::2", async () => "second"),
  ];
  expect(() => replies.add("2001:db8::3", async () => "third")).toThrow(ReplyError);
  results.push(replies.add("2001:db8:0:1::1", async () => "other"));
  first.resolve("first");
  expect(await Promise.all(results)).toEqual(["first", "second", "other"]);
  expect(await replies.add("2001:db8::3", async () => "third")).toBe("third");
});
