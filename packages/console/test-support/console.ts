/** What a test of the console in a browser stands on: a dev chain of its own, and Chromium. */
import type { Browser } from "playwright-core";
import { startBrowser } from "./browser.ts";
import { type DevNode, startDevNode } from "./dev-node.ts";

export type RunningConsole = {
  readonly node: DevNode;
  readonly browser: Browser;
  /** Ends both. */
  stop(): Promise<void>;
};

/**
 * Starts both at once; when one of them does not start, the other one is ended.
 *
 * @param browserArguments of its command line, beside those of every test
 */
export async function startConsole(
  executable: string,
  browserArguments: readonly string[] = [],
): Promise<RunningConsole> {
  const starting = [startDevNode(), startBrowser(executable, browserArguments)] as const;
  try {
    const [node, browser] = await Promise.all(starting);
    return {
      node,
      browser,
      async stop() {
        await browser.close();
        await node.stop();
      },
    };
  } catch (error) {
    const [node, browser] = await Promise.allSettled(starting);
    if (node.status === "fulfilled") await node.value.stop();
    if (browser.status === "fulfilled") await browser.value.close();
    throw error;
  }
}
