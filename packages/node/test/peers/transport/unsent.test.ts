/** Bounds on the replies that wait for slow readers. */
import { expect, test } from "vitest";
import { Pacer } from "../../../src/peers/guards/rate-limits.ts";
import { Unsent } from "../../../src/peers/transport/memory-bounds.ts";
import { present } from "../../../src/platform/present.ts";

const MIB = 1024 * 1024;

/** Connections with pending MiB, and the names of the cut ones. */
function connections(waiting: Readonly<Record<string, number>>) {
  const unsent = new Unsent({ maxBytes: 4 * MIB, maxTotalBytes: 8 * MIB });
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
  return { cut, of: (name: string) => present(watched.get(name)) };
}

test("A connection has capacity up to its own bound.", () => {
  const { cut, of } = connections({ a: 3, b: 3 });
  expect(of("a").hasCapacity(MIB)).toBe(true);
  expect(of("b").hasCapacity(MIB + 1)).toBe(false);
  expect(cut).toEqual(["b"]);
});

test("The connections with the most waiting bytes are cut when the total is exceeded.", () => {
  const { cut, of } = connections({ a: 2, b: 3, c: 2, d: 0 });
  expect(of("d").hasCapacity(MIB)).toBe(true);
  expect(cut).toEqual([]);
  expect(of("d").hasCapacity(MIB + 1)).toBe(true);
  expect(cut).toEqual(["b"]);
});

test("The connection that exceeds the total is cut itself if it has the most.", () => {
  const { cut, of } = connections({ a: 2, b: 2, c: 3.5 });
  expect(of("c").hasCapacity(0.5 * MIB)).toBe(true);
  expect(of("a").hasCapacity(MIB)).toBe(true);
  expect(cut).toEqual(["c"]);
  expect(of("c").hasCapacity(0)).toBe(false);
});

test("A connection that has ended does not count.", () => {
  const { cut, of } = connections({ a: 3, b: 3, c: 2 });
  of("b").forget();
  expect(of("c").hasCapacity(2 * MIB)).toBe(true);
  expect(cut).toEqual([]);
});

test("Pending texts are counted until they are sent, or the connection ends.", () => {
  const sent: string[] = [];
  const pacer = new Pacer({ events: 2, windowMs: 60_000 }, (text) => sent.push(text));
  for (const text of ["a", "bb", "ccc", "dddd"]) pacer.send(text);
  expect(sent).toEqual(["a", "bb"]);
  expect(pacer.waitingLength()).toBe(7);
  pacer.close();
  expect(pacer.waitingLength()).toBe(0);
});
