/** Metrics of the calls of other machines. */
import type { RemoteCallFigures } from "../../gateway/remote-calls.ts";
import { Counter, Gauge, type Registry, showTotal } from "./instruments.ts";

export function createRemoteCallMetrics(registry: Registry): (figures: RemoteCallFigures) => void {
  const registers = [registry];
  const open = new Gauge({
    name: "uniknode_gateway_calls",
    help: "Calls of other machines that are in progress.",
    registers,
  });
  const refused = new Counter({
    name: "uniknode_gateway_calls_refused_total",
    help: "Calls of other machines that were refused because too many were in progress.",
    registers,
  });
  const late = new Counter({
    name: "uniknode_gateway_calls_late_total",
    help: "Calls of other machines that were not executed because their time was over.",
    registers,
  });
  return (figures) => {
    open.set(figures.open);
    showTotal(refused, figures.refused);
    showTotal(late, figures.late);
  };
}
