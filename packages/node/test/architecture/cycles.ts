/** Finds cycles of imports between the children of each folder. */

import { present } from "../../src/platform/present.ts";
import type { Import } from "./imports.ts";

/** Children of one folder that import each other, directly or through other children. */
export type Cycle = {
  readonly folder: string;
  /** Files and folders, in alphabetical order. */
  readonly children: readonly string[];
  readonly imports: readonly Import[];
};

type Edge = { readonly from: string; readonly to: string; readonly import: Import };

/** Edge between two children of the deepest folder that contains both ends of an import. */
function findEdge({ from, to }: Import): { folder: string; from: string; to: string } {
  const importer = from.split("/");
  const imported = to.split("/");
  let depth = 0;
  while (depth < importer.length - 1 && importer[depth] === imported[depth]) depth += 1;
  return {
    folder: importer.slice(0, depth).join("/"),
    from: present(importer[depth]),
    to: imported[depth] ?? "",
  };
}

function findReachable(start: string, edges: readonly Edge[]): Set<string> {
  const reached = new Set<string>();
  const pending = [start];
  for (let child = pending.pop(); child !== undefined; child = pending.pop()) {
    for (const { from, to } of edges) {
      if (from !== child || reached.has(to)) continue;
      reached.add(to);
      pending.push(to);
    }
  }
  return reached;
}

function findCyclesOfFolder(folder: string, edges: readonly Edge[]): Cycle[] {
  const reachable = new Map(
    [...new Set(edges.map(({ from }) => from))].map((child) => [child, findReachable(child, edges)]),
  );
  const canReach = (from: string, to: string) => reachable.get(from)?.has(to) === true;
  const cycles = new Map<string, Cycle>();
  for (const child of reachable.keys()) {
    if (!canReach(child, child)) continue;
    const children = [...reachable.keys()]
      .filter((other) => canReach(child, other) && canReach(other, child))
      .sort();
    const imports = edges
      .filter(({ from, to }) => children.includes(from) && children.includes(to))
      .map((edge) => edge.import);
    cycles.set(children.join(), { folder, children, imports });
  }
  return [...cycles.values()];
}

/** Finds the cycles in every folder at every depth, including files that import themselves. */
export function findCycles(imports: readonly Import[]): Cycle[] {
  const folders = new Map<string, Edge[]>();
  for (const found of imports) {
    const { folder, ...edge } = findEdge(found);
    const edges = folders.get(folder) ?? [];
    edges.push({ ...edge, import: found });
    folders.set(folder, edges);
  }
  return [...folders].flatMap(([folder, edges]) => findCyclesOfFolder(folder, edges));
}
