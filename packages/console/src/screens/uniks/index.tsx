/** List of uniks. */
import type { TokenSearch, Unik } from "@uniknode/client";
import { ExportButtons } from "../../components/export/export-button.tsx";
import { Filters } from "../../components/filters.tsx";
import { useListState } from "../../components/list-state.ts";
import { Page } from "../../components/page.tsx";
import { Pager } from "../../components/pager.tsx";
import { Empty, ResponseView } from "../../components/states.tsx";
import { UnikTable } from "../../components/uniks/unik-table.tsx";
import { unikTypeText } from "../../components/uniks/unik-types.ts";
import { useNode, useResponse } from "../../data/node.ts";

const LIMIT = 25;

export default function Uniks() {
  const { api } = useNode();
  const { page, query } = useListState();
  const search = searchOf(query);
  const list = () => api.uniks.search(search);
  const response = useResponse(`uniks ${JSON.stringify([page, search])}`, () =>
    list().page({ page, limit: LIMIT }),
  );
  return (
    <Page title="Uniks" aside={<ExportButtons name="uniks" rows={() => rowsOf(list())} />}>
      <Filters
        fields={[
          { name: "id", label: "Id", placeholder: "64 hexadecimal digits" },
          { name: "owner", label: "Owner", placeholder: "Address" },
        ]}
      />
      <ResponseView response={response} what="The list" lines={LIMIT}>
        {({ data, meta }) => (
          <>
            <UnikTable
              caption="Uniks"
              uniks={data}
              empty={<Empty title="No unik matches">Clear the filters to see all uniks.</Empty>}
            />
            <Pager meta={meta} what="uniks" />
          </>
        )}
      </ResponseView>
    </Page>
  );
}

/** Parses the filters in the URL, and ignores invalid ones. */
export function searchOf({ id, owner }: Readonly<Record<string, string>>): TokenSearch {
  return {
    ...(id && /^[0-9a-f]{64}$/.test(id) && { id }),
    ...(owner && /^[0-9A-Za-z]{34}$/.test(owner) && { ownerId: owner }),
  };
}

async function* rowsOf(uniks: AsyncIterable<Unik>) {
  for await (const { id, ownerId, type, explicitValues = [] } of uniks) {
    yield { id, owner: ownerId, type: unikTypeText(type), names: explicitValues.join(" ") };
  }
}
