/** Metrics of sessions at the console. */

import type { SessionFigures } from "../../http/console/sessions.ts";
import { Gauge, type Registry } from "./instruments.ts";

export function createSessionMetrics(registry: Registry): (figures: SessionFigures) => void {
  const registers = [registry];
  const sessions = new Gauge({
    name: "uniknode_console_sessions",
    help: "Console sessions: browsers that are signed in.",
    registers,
  });
  const links = new Gauge({
    name: "uniknode_console_links",
    help: "Unused one-time links for signing in to the console.",
    registers,
  });
  return (figures) => {
    sessions.set(figures.sessions);
    links.set(figures.codes);
  };
}
