/** A dev chain with its console, and Chromium. */
import type { Browser } from "playwright-core";
import { startBrowser } from "./browser.ts";
import { DevNode } from "./dev-node.ts";

export type RunningConsole = {
  readonly node: DevNode;
  readonly browser: Browser;
  /** Ends both. */
  stop(): Promise<void>;
};

/** Starts both at once; if one of them does not start, the other one is ended. */
export async function startConsole(executable: string): Promise<RunningConsole> {
  const node = new DevNode();
  const [started, opened] = await Promise.allSettled([node.start(), startBrowser(executable)]);
  const stop = async () => {
    if (opened.status === "fulfilled") await opened.value.close();
    await node.stop();
  };
  if (started.status === "fulfilled" && opened.status === "fulfilled") {
    return { node, browser: opened.value, stop };
  }
  await stop();
  throw started.status === "rejected" ? started.reason : (opened as PromiseRejectedResult).reason;
}
