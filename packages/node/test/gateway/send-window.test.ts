import { describe, expect, test } from "vitest";
import { SendWindow } from "../../src/gateway/caller.ts";

function openWindow(maxLength: number) {
  const sent: string[] = [];
  const window = new SendWindow(maxLength);
  let number = 0;
  const add = (source: string, length: number): number => {
    const own = ++number;
    window.add({ number: own, source, length, send: () => sent.push(`${source}${own}`) });
    return own;
  };
  return { end: (ended: number) => window.end(ended), add, sent };
}

describe("the window of submissions", () => {
  test("The window of submissions sends calls that fit at once, and the rest when others have ended.", () => {
    const { add, end, sent } = openWindow(100);
    const first = add("a", 60);
    add("a", 40);
    add("a", 1);
    expect(sent).toEqual(["a1", "a2"]);
    end(first);
    expect(sent).toEqual(["a1", "a2", "a3"]);
  });

  test("The window of submissions sends a call of any length alone.", () => {
    const { add, end, sent } = openWindow(100);
    const first = add("a", 1_000);
    const second = add("a", 1_000);
    expect(sent).toEqual(["a1"]);
    end(first);
    end(second);
    add("b", 1);
    expect(sent).toEqual(["a1", "a2", "b3"]);
  });

  test("The window of submissions alternates between sources: one with many calls delays another by one call.", () => {
    const { add, end, sent } = openWindow(10);
    for (let count = 0; count < 50; count++) add("flood", 10);
    add("other", 10);
    add("third", 10);
    for (let number = 1; sent.length < 4; number++) end(number);
    expect(sent.slice(0, 4)).toEqual(["flood1", "flood2", "other51", "third52"]);
  });

  test("The window of submissions forgets a call that ends before it is sent, and ignores unknown numbers.", () => {
    const { add, end, sent } = openWindow(10);
    const first = add("a", 10);
    const second = add("b", 10);
    add("c", 10);
    end(second);
    end(99);
    end(first);
    expect(sent).toEqual(["a1", "c3"]);
  });

  test("The window of submissions sends all waiting calls while calls end in between.", () => {
    const sent: number[] = [];
    const window = new SendWindow(10);
    for (let number = 1; number <= 1_000; number++) {
      window.add({
        number,
        source: `${number % 7}`,
        length: 10,
        send() {
          sent.push(number);
          // As a call whose deadline has passed.
          if (number > 1) window.end(number);
        },
      });
    }
    window.end(1);
    expect(sent.length).toBe(1_000);
  });
});
