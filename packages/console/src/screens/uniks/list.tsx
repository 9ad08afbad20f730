/** List of uniks. */
import type { TokenSearch, Unik } from "@uniknode/client";
import { ExportButtons } from "../../components/export/export-button.tsx";
import { Filters } from "../../components/filters.tsx";
import { useListState } from "../../components/list-state.ts";
import { Page } from "../../components/page.tsx";
import { PagedList } from "../../components/paged-list.tsx";
import { Empty } from "../../components/states.tsx";
import { UnikTable } from "../../components/uniks/unik-table.tsx";
import { unikTypeText } from "../../components/uniks/unik-types.ts";
import { useNode } from "../../data/node.ts";

export default function Uniks() {
  const { api } = useNode();
  const search = searchOf(useListState().query);
  const list = () => api.uniks.search(search);
  return (
    <Page title="Uniks" aside={<ExportButtons name="uniks" rows={() => rowsOf(list())} />}>
      <Filters
        fields={[
          { name: "id", label: "Id", placeholder: "64 hexadecimal digits" },
          { name: "owner", label: "Owner", placeholder: "Address" },
        ]}
      />
      <PagedList name={`uniks ${JSON.stringify(search)}`} list={list} what="uniks" lines={25}>
        {(uniks) => (
          <UnikTable
            caption="Uniks"
            uniks={uniks}
            empty={<Empty title="No unik matches">Clear the filters to see all uniks.</Empty>}
          />
        )}
      </PagedList>
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
