/** Determines what the choice of a plan depends on, then runs the chosen plan. */
import { present } from "../../../platform/present.ts";
import type { Found } from "../../page.ts";
import { type Asked, type Bounds, choosePlan, type Known, type Plan, type Question } from "./choose.ts";

export type Learning = Readonly<Partial<Record<Question, () => Known>>>;
/** `total` is the number of rows of all pages; 0 for plans that are chosen before it is known. */
export type Finding<Row> = Readonly<Partial<Record<Plan, (total: number) => Found<Row>>>>;

/** A collection must implement every plan that `choosePlan` can choose for it. */
export function findPage<Row>(
  asked: Asked,
  initially: Known,
  bounds: Bounds,
  { learning, finding }: { readonly learning: Learning; readonly finding: Finding<Row> },
): Found<Row> {
  let known = initially;
  for (;;) {
    const choice = choosePlan(asked, known, bounds);
    if ("learn" in choice) {
      known = { ...known, ...present(learning[choice.learn], choice.learn)() };
      continue;
    }
    const { total = 0 } = known;
    return choice.plan === "none"
      ? { rows: [], totalCount: total }
      : present(finding[choice.plan], `plan ${choice.plan}`)(total);
  }
}
