/** Metrics of a process. */
import { present } from "../../src/platform/present.ts";

/** Interval of a test that waits for a metric: a process sends its metrics 120 times a minute, and no more often. */
export const SCRAPES = { interval: 1_000 };

/**
 * @param token not needed if the metrics are public
 * @throws {Error} if the process refuses
 */
export async function readMetrics(url: string, token = ""): Promise<string> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: token } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}/metrics: ${response.status} ${text}`);
  return text;
}

/**
 * Returns the value of one metric.
 *
 * @param name with its labels, as on the page
 * @throws {Error} if the process refuses, or does not have the metric
 */
export async function readMetric(url: string, name: string, token?: string): Promise<number> {
  const page = await readMetrics(url, token);
  const line = page.split("\n").find((text) => text.startsWith(`${name} `));
  return Number(present(line, name).slice(name.length));
}
