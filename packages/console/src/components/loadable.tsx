/** Parts of the page that are loaded on demand, also after an outage of the node. */
import type { ComponentType } from "preact";
import lazy from "preact-iso/lazy";
import type { Load, Waiting } from "./load-with-retry.tsx";

export const loadable = <Props extends object>(
  load: Load<Props>,
  waiting: Waiting = "screen",
): ComponentType<Props> =>
  lazy(() =>
    // The notices have loaded this file, so it is available without the node.
    load().catch(async () => ({
      default: (await import("./load-with-retry.tsx")).loadWithRetry(load, waiting),
    })),
  ) as ComponentType<Props>;
