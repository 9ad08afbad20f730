/** Navigation between the pages of a list. */
import type { PageMeta } from "@uniknode/client";
import { countOfText, countText } from "./format.ts";
import { Icon } from "./icon.tsx";
import { useListState } from "./list-state.ts";

/** @param what noun of the rows in the plural: `blocks` */
export function Pager({ meta, what }: { meta: PageMeta; what: string }) {
  const { page, hrefWith } = useListState();
  const { pageCount, totalCount } = meta;
  const step = (to: number, text: string, icon: "left" | "right") =>
    to >= 1 && to <= pageCount ? (
      <a class="button" href={hrefWith({ page: `${to}` })} rel={icon === "left" ? "prev" : "next"}>
        {icon === "left" && <Icon name="left" />}
        {text}
        {icon === "right" && <Icon name="right" />}
      </a>
    ) : undefined;
  return (
    <nav class="pager" aria-label={`Pages of ${what}`}>
      <span class="quiet">
        {countOfText(totalCount, what)}
        {pageCount > 1 && ` · page ${countText(page)} of ${countText(pageCount)}`}
      </span>
      {page > 2 && step(1, "First", "left")}
      {step(page - 1, "Previous", "left")}
      {step(page + 1, "Next", "right")}
    </nav>
  );
}
