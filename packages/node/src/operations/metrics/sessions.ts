/** Metrics of sessions at the console. */

import type { SessionFigures } from "../../http/console/sessions.ts";
import { Gauge, type Registry } from "./instruments.ts";

export function createSessionMetrics(registry: Registry): (figures: SessionFigures) => void {
  const registers = [registry];
  const sessions = new Gauge({
    name: "uniknode_console_sessions",
    help: "Browsers that are signed in at the console.",
    registers,
  });
  const links = new Gauge({
    name: "uniknode_console_links",
    help: "Links that sign in at the console once, and were not used.",
    registers,
  });
  return (figures) => {
    sessions.set(figures.sessions);
    links.set(figures.codes);
  };
}
