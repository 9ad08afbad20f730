/** Parts of the page that are loaded when they are needed, also if the node does not answer at that time. */
import type { ComponentType } from "preact";
import lazy from "preact-iso/lazy";
import type { Load, Waiting } from "./retried.tsx";

export const loadable = <Props extends object>(
  load: Load<Props>,
  waiting: Waiting = "screen",
): ComponentType<Props> =>
  lazy(() =>
    // The notices have loaded it before: it is there without a node.
    load().catch(async () => ({ default: (await import("./retried.tsx")).retried(load, waiting) })),
  ) as ComponentType<Props>;
