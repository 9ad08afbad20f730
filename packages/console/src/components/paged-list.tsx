/** Page of a list of the API, with links to its other pages. */
import type { List } from "@uniknode/client";
import type { ComponentChildren } from "preact";
import { useResponse } from "../data/node.ts";
import { useListState } from "./list-state.ts";
import { Pager } from "./pager.tsx";
import { ResponseView } from "./states.tsx";

export type PagedListProps<Row> = {
  /** Identifies the list with all its filters, for the cache of responses. */
  readonly name: string;
  readonly list: () => Pick<List<Row>, "page">;
  /** Noun of the rows in the plural: `blocks`. */
  readonly what: string;
  /** Name of the list in a failure. */
  readonly title?: string;
  /** Maximum number of rows. */
  readonly limit?: number;
  /** Number of skeleton lines while the page is loading. */
  readonly lines?: number;
  /** Groups the rows with the links below them. */
  readonly isSection?: boolean;
  /** Also refreshes in this interval while the page is visible. */
  readonly everyMs?: number;
  readonly children: (rows: readonly Row[]) => ComponentChildren;
};

export function PagedList<Row>(props: PagedListProps<Row>) {
  const { name, list, what, title = "The list", limit = 25, lines, isSection, everyMs, children } = props;
  const { page } = useListState();
  const response = useResponse(
    `${name} ${page}`,
    () => list().page({ page, limit }),
    everyMs === undefined ? {} : { everyMs },
  );
  return (
    <ResponseView response={response} what={title} {...(lines !== undefined && { lines })}>
      {({ data, meta }) => {
        const content = (
          <>
            {children(data)}
            <Pager meta={meta} what={what} />
          </>
        );
        return isSection ? <div class="section">{content}</div> : content;
      }}
    </ResponseView>
  );
}
