/**
 * Paths in a JSON value: `$.body.data[0].id`, `$.body.data[*].votes`, `$.body.data[?isResigned=true].votes`.
 */

import { present } from "../../src/platform/present.ts";
import type { Json } from "./case.ts";

type Step = string | number | { all: true } | { member: string; value: Json };

function stepsOf(path: string): Step[] {
  const steps: Step[] = [];
  for (const [, name, index, member, value, quoted] of path.matchAll(
    /\.([^.[\]]+)|\[(\d+|\*)\]|\[\?([\w.]+)=([^\]]*)\]|\["([^"]+)"\]/g,
  )) {
    if (name !== undefined || quoted !== undefined) steps.push(name ?? present(quoted));
    else if (index !== undefined) steps.push(index === "*" ? { all: true } : Number(index));
    else steps.push({ member: present(member), value: JSON.parse(present(value)) });
  }
  return steps;
}

/**
 * Calls `visit` with the parent and the key of every position that matches the path, whether it exists or
 * not.
 */
function visitPlaces(root: Json, path: string, visit: (parent: Json, key: string | number) => void): void {
  const steps = stepsOf(path);
  const walk = (value: Json, depth: number): void => {
    const step = steps[depth];
    if (step === undefined || value === null || typeof value !== "object") return;
    const keys =
      typeof step !== "object"
        ? [step]
        : [value]
            .flat()
            .flatMap((row, index) =>
              "all" in step || valueAt(row, `$.${step.member}`) === step.value ? [index] : [],
            );
    for (const key of keys) {
      if (depth === steps.length - 1) visit(value, key);
      else walk((value as Record<string, Json>)[key] as Json, depth + 1);
    }
  };
  walk(root, 0);
}

export function valueAt(root: Json, path: string): Json | undefined {
  let found: Json | undefined;
  visitPlaces(root, path, (parent, key) => {
    found = (parent as Record<string, Json>)[key];
  });
  return found;
}

export function setAt(root: Json, path: string, value: Json): void {
  visitPlaces(root, path, (parent, key) => {
    (parent as Record<string, Json>)[key] = value;
  });
}

export function removeAt(root: Json, path: string): void {
  visitPlaces(root, path, (parent, key) => {
    if (Array.isArray(parent)) parent[key as number] = null;
    else delete (parent as Record<string, Json>)[key];
  });
}
