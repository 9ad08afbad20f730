/** Tests of the console in a browser, with their own dev chain. */

import { present } from "@uniknode/protocol";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import {
  closePages,
  findBrowser,
  openPage,
  type PageOptions,
  shareBrowser,
  signIn,
  startBrowser,
  type Watched,
} from "./browser.ts";
import { DevNode } from "./dev-node.ts";

export type ConsoleTests = {
  /** Runs while hooks and tests do. */
  readonly node: DevNode;
  /** Opens an empty page for the rest of the test. */
  open(options?: PageOptions): Promise<Watched>;
  /** Opens an empty page for the rest of the file. */
  openForAll(): Promise<Watched>;
  /**
   * Returns one page of the file, for tests that need no cookies and storage of their own: a browser works most when it
   * opens the first page of a session.
   */
  reuse(): Promise<Watched>;
  /** Returns the page of `reuse` at the overview, signed in. */
  reuseSignedIn(): Promise<Watched>;
  /** Opens the overview of a browser that has signed in, for the rest of the test. */
  openSignedIn(): Promise<Watched>;
};

export type ConsoleTestsOptions = {
  /** Arguments of the command line of a browser for this file; without any, it has that of its process. */
  readonly browserArguments?: readonly string[];
  /** Further arguments of `uniknode dev`. */
  readonly nodeArguments?: readonly string[];
};

export function describeConsole(
  { browserArguments = [], nodeArguments = [] }: ConsoleTestsOptions,
  define: (tests: ConsoleTests) => void,
): void {
  const executable = findBrowser();
  describe.skipIf(!executable)("In a browser", () => {
    const node = new DevNode(nodeArguments);
    const isShared = browserArguments.length === 0;
    let browser: Browser | undefined;
    beforeAll(async () => {
      const path = present(executable);
      browser = isShared ? await shareBrowser(path) : await startBrowser(path, browserArguments);
      await node.start();
    });
    afterAll(async () => {
      await (isShared ? closePages(browser) : browser?.close());
      await node.stop();
    });

    const openForAll = (options?: PageOptions) => openPage(present(browser), node.url, options);
    async function open(options?: PageOptions): Promise<Watched> {
      const watched = await openForAll(options);
      onTestFinished(() => watched.page.context().close());
      return watched;
    }
    async function openSignedIn(): Promise<Watched> {
      const watched = await open();
      await signIn(watched.page, node.token);
      return watched;
    }

    let shared: Watched | undefined;
    async function reuse(): Promise<Watched> {
      shared ??= await openForAll();
      // Aborts the requests of the previous test.
      await shared.page.goto("about:blank");
      shared.faults.length = 0;
      return shared;
    }
    let isSignedIn = false;
    async function reuseSignedIn(): Promise<Watched> {
      const watched = await reuse();
      if (!isSignedIn) await signIn(watched.page, node.token);
      isSignedIn = true;
      await watched.page.goto("/console/");
      await watched.page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
      return watched;
    }
    define({ node, open, openForAll, openSignedIn, reuse, reuseSignedIn });
  });
}
