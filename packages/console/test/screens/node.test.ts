import type { Peer } from "@uniknode/client";
import { present } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import { curveOf } from "../../src/components/chart/curve.ts";
import { HEIGHT, WIDTH } from "../../src/components/chart/size.ts";
import { figuresOf, samplesOf } from "../../src/screens/node/metrics.ts";
import { createOperations } from "../../src/screens/node/operations.ts";
import { rowsOf } from "../../src/screens/node/peer-map.tsx";

const TEXT = `# HELP a_total What it counts.
# TYPE a_total counter
a_total 3
reasons_total{reason="ERR_APPLY"} 2
reasons_total{reason="with \\"quotes\\", and {braces} \\\\"} 7
reasons_total{reason="never"} 0
delay_seconds{thread="serving",statistic="p99"} 0.25
unknown NaN
large +Inf
`;

describe("Figures of a node", () => {
  test("Comments are not samples; labels keep their escaped characters.", () => {
    expect(samplesOf(TEXT)).toHaveLength(7);
    expect(samplesOf(TEXT)[2]).toEqual({
      name: "reasons_total",
      labels: { reason: 'with "quotes", and {braces} \\' },
      value: 7,
    });
    expect(samplesOf("")).toEqual([]);
  });

  test("A figure is found by its name and labels; unknown figures are absent.", () => {
    const { one } = figuresOf(TEXT);
    expect(one("a_total")).toBe(3);
    expect(one("delay_seconds", { thread: "serving", statistic: "p99" })).toBe(0.25);
    expect(one("delay_seconds", { thread: "consensus" })).toBeUndefined();
    expect(one("unknown")).toBeUndefined();
    expect(one("large")).toBe(Number.POSITIVE_INFINITY);
  });

  test("Reasons are sorted by frequency, without reasons that did not occur.", () => {
    expect(figuresOf(TEXT).by("reasons_total", "reason")).toEqual([
      ['with "quotes", and {braces} \\', 7],
      ["ERR_APPLY", 2],
    ]);
  });
});

describe("Requests of operators", () => {
  const operationsWith = (status: number, body: string) =>
    createOperations(async () => new Response(body, { status }));

  test("The summary and the figures are read below the operations of the console.", async () => {
    const paths: unknown[] = [];
    const { summary, figures } = createOperations(async (path) => {
      paths.push(path);
      return new Response(`${path}`.endsWith("metrics") ? TEXT : '{"version":"1"}');
    });
    expect(await summary()).toEqual({ version: "1" });
    expect((await figures()).one("a_total")).toBe(3);
    expect(paths).toEqual(["/console/operations/health/status", "/console/operations/metrics"]);
  });

  test.each([
    [401, "API_UNAUTHORIZED", false],
    [403, "API_UNAUTHORIZED", false],
    [429, "API_FAILED", true],
    [503, "API_FAILED", true],
  ])("The status %i is %s.", async (status, code, isRetryable) => {
    await expect(operationsWith(status, "no").summary()).rejects.toMatchObject({ code, isRetryable, status });
  });

  test("A missing response means that the node is unreachable.", async () => {
    const { figures } = createOperations(async () => {
      throw new TypeError("refused");
    });
    await expect(figures()).rejects.toMatchObject({ code: "API_UNREACHABLE", isRetryable: true });
  });
});

describe("A chart curve", () => {
  test("It reaches from the left edge to the right one, with the largest value at the top and zero at the bottom.", () => {
    const { path, lowest, highest, last } = present(curveOf([0, 0, 5, 5, 5, 10, 10]));
    expect(path).toMatch(
      new RegExp(`^M0\\.0 ${HEIGHT}\\.0h0L.*L${WIDTH / 2}\\.0 ${HEIGHT / 2}\\.0L.*L${WIDTH}\\.0 0\\.0$`),
    );
    expect({ lowest, highest, last }).toEqual({ lowest: 0, highest: 10, last: 10 });
  });

  test("Up to five samples are dots without a line, the first one at the left edge; so is a sample between unknown ones.", () => {
    expect(curveOf([7])?.path).toBe("M0.0 0.0h0");
    expect(curveOf([0, 5, 10])?.path).toBe(
      `M0.0 ${HEIGHT}.0h0M${WIDTH / 2}.0 ${HEIGHT / 2}.0h0M${WIDTH}.0 0.0h0`,
    );
    expect(curveOf([1, 1, 1, 1, 1])?.path).not.toContain("L");
    expect(curveOf([1, 1, 1, null, 1, null, 1, 1])?.path.match(/M[\d. ]+h0(?!L)/g)).toHaveLength(1);
  });

  test("It has a gap for unknown values, and is absent if all are unknown.", () => {
    const { path, last } = present(curveOf([1, null, 2, null]));
    expect(path.match(/M/g)).toHaveLength(2);
    expect(last).toBe(2);
    expect(curveOf([null, null])).toBeUndefined();
    expect(curveOf([])).toBeUndefined();
  });

  test("Constant values, and a single one, yield a curve with finite coordinates.", () => {
    for (const values of [[0, 0], [7], [-3, -3]]) {
      expect(curveOf(values)?.path).toMatch(/^[MLh\d. ]+$/);
    }
  });

  test("Six hours have one point for each column, and no peak is lost.", () => {
    const values = Array.from({ length: 2_160 }, (_, index) => (index === 1_001 ? 100 : 1));
    const { path, highest } = present(curveOf(values));
    expect(path.match(/[ML]/g)).toHaveLength(WIDTH);
    expect(path).toContain(" 0.0");
    expect(highest).toBe(100);
  });
});

test("The map of peers counts each version by its distance from the head, frequent versions first.", () => {
  const peer = (version: string, height: number) =>
    ({ ip: "10.0.0.1", port: 4_002, ports: {}, version, height, latency: 1 }) as Peer;
  const peers = [
    peer("1", 1_003),
    peer("2", 1_002),
    peer("2", 998),
    peer("2", 997),
    peer("2", 950),
    peer("2", 949),
  ];
  expect(rowsOf(peers, 1_000)).toEqual([
    { version: "2", place: "at the head", count: 2 },
    { version: "2", place: "up to 50 lower", count: 2 },
    { version: "2", place: "lower", count: 1 },
    { version: "1", place: "higher", count: 1 },
  ]);
});
