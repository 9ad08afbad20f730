/** List of uniks. */
import type { TokenSearch, Unik } from "@uniknode/client";
import { ExportButtons } from "../../components/export/export-button.tsx";
import { addressFault, idFault } from "../../components/faults.ts";
import { areValid, Filters } from "../../components/filters.tsx";
import { useListState } from "../../components/list-state.ts";
import { Page } from "../../components/page.tsx";
import { PagedList } from "../../components/paged-list.tsx";
import { Empty } from "../../components/states.tsx";
import { UnikTable } from "../../components/uniks/unik-table.tsx";
import { unikTypeText } from "../../components/uniks/unik-types.ts";
import { useNode } from "../../data/node.ts";

const FIELDS = [
  { name: "id", label: "Id", placeholder: "64 hexadecimal digits", faultOf: idFault },
  { name: "owner", label: "Owner", placeholder: "Address", faultOf: addressFault },
];

export default function Uniks() {
  const { api } = useNode();
  const { query } = useListState();
  const search = searchOf(query);
  const list = () => api.uniks.search(search);
  return (
    <Page
      title="Uniks"
      aside={areValid(FIELDS, query) && <ExportButtons name="uniks" rows={() => rowsOf(list())} />}
    >
      <Filters fields={FIELDS}>
        <PagedList name={`uniks ${JSON.stringify(search)}`} list={list} what="uniks" lines={25}>
          {(uniks) => (
            <UnikTable
              caption="Uniks"
              uniks={uniks}
              empty={<Empty title="No unik matches">Clear the filters to see all uniks.</Empty>}
            />
          )}
        </PagedList>
      </Filters>
    </Page>
  );
}

/** Parses the filters in the URL, all of which are valid. */
export function searchOf({ id, owner }: Readonly<Record<string, string>>): TokenSearch {
  return {
    ...(id && { id }),
    ...(owner && { ownerId: owner }),
  };
}

async function* rowsOf(uniks: AsyncIterable<Unik>) {
  for await (const { id, ownerId, type, explicitValues = [] } of uniks) {
    yield { id, owner: ownerId, type: unikTypeText(type), names: explicitValues.join(" ") };
  }
}
