/** Bounds on what slow readers make a node hold. */
import { expect, test } from "vitest";
import { createPacer } from "../../../src/peers/transport/pacer.ts";
import { createUnsent } from "../../../src/peers/transport/unsent.ts";

const MIB = 1024 * 1024;

/** Connections with so many MiB waiting, and the names of those that were cut. */
function connections(waiting: Readonly<Record<string, number>>) {
  const unsent = createUnsent({ maxBytes: 4 * MIB, maxTotalBytes: 8 * MIB });
  const cut: string[] = [];
  const watched = new Map(
    Object.entries(waiting).map(([name, mib]) => [
      name,
      unsent.watch(
        () => mib * MIB,
        () => void cut.push(name),
      ),
    ]),
  );
  return { cut, of: (name: string) => watched.get(name)! };
}

test("a connection has room up to its own bound", () => {
  const { cut, of } = connections({ a: 3, b: 3 });
  expect(of("a").hasCapacity(MIB)).toBe(true);
  expect(of("b").hasCapacity(MIB + 1)).toBe(false);
  expect(cut).toEqual(["b"]);
});

test("those with the most waiting make room when all together are too many", () => {
  const { cut, of } = connections({ a: 2, b: 3, c: 2, d: 0 });
  expect(of("d").hasCapacity(MIB)).toBe(true);
  expect(cut).toEqual([]);
  expect(of("d").hasCapacity(MIB + 1)).toBe(true);
  expect(cut).toEqual(["b"]);
});

test("the one that asks makes room itself where it has the most", () => {
  const { cut, of } = connections({ a: 2, b: 2, c: 3.5 });
  expect(of("c").hasCapacity(0.5 * MIB)).toBe(true);
  expect(of("a").hasCapacity(MIB)).toBe(true);
  expect(cut).toEqual(["c"]);
  expect(of("c").hasCapacity(0)).toBe(false);
});

test("a connection that has ended does not count", () => {
  const { cut, of } = connections({ a: 3, b: 3, c: 2 });
  of("b").forget();
  expect(of("c").hasCapacity(2 * MIB)).toBe(true);
  expect(cut).toEqual([]);
});

test("texts that wait for their turn are counted until they leave, or nobody takes them", () => {
  const sent: string[] = [];
  const pacer = createPacer({ events: 2, windowMs: 60_000 }, (text) => sent.push(text));
  for (const text of ["a", "bb", "ccc", "dddd"]) pacer.send(text);
  expect(sent).toEqual(["a", "bb"]);
  expect(pacer.waitingLength()).toBe(7);
  pacer.close();
  expect(pacer.waitingLength()).toBe(0);
});
