/** A list as a table; each row has two lines if the screen is too narrow for columns. */
import type { ComponentChildren } from "preact";

/** Line of a narrow row, and where in it: at its start (`a`), behind that (`b`), or at its end (`c`). */
export type Place = "1a" | "1b" | "1c" | "2a" | "2b" | "2c" | "none";

export type Column<Row> = {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers: at the end of the cell. */
  readonly isNumber?: boolean;
  /** Left out where there is little room. */
  readonly isMinor?: boolean;
  /** Where it is in a narrow row. Default: the first and the last column in the first line, three others in the second. */
  readonly narrow?: Place;
};

export type TableProps<Row> = {
  /** What the list is; shown to screen readers only. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row, index: number) => string | number;
  /** Class of a row that stands out. */
  readonly classOf?: (row: Row) => string | undefined;
  /** Shown instead of no rows. */
  readonly empty: ComponentChildren;
  /** Columns and rows keep their sizes whatever they contain; long texts are cut off. */
  readonly isSteady?: boolean;
};

export function Table<Row>({ caption, columns, rows, keyOf, classOf, empty, isSteady }: TableProps<Row>) {
  if (rows.length === 0) return <>{empty}</>;
  const places = placesOf(columns);
  return (
    <div class={isSteady ? "table steady" : "table"}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={classNames(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={keyOf(row, index)} class={classOf?.(row)}>
              {columns.map((column, index) => (
                <td
                  key={column.title}
                  data-title={column.title}
                  data-narrow={places[index]}
                  class={classNames(column)}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A first column with nothing behind it has the width of both (`w`). */
export function placesOf(columns: readonly Pick<Column<never>, "isMinor" | "narrow">[]): readonly string[] {
  const isChosen = columns.some(({ narrow }) => narrow !== undefined);
  const shown = columns.filter(({ isMinor }) => !isMinor);
  const automatic = new Map(shown.map((column, index) => [column, ["2a", "2b", "2c"][index - 1]]));
  automatic.set(shown[0]!, "1a");
  if (shown.length > 1) automatic.set(shown.at(-1)!, "1c");
  const places = columns.map((column) => (isChosen ? column.narrow : automatic.get(column)) ?? "none");
  return places.map((place) =>
    place.endsWith("a") && !places.includes(`${place[0]}b`) ? `${place[0]}w` : place,
  );
}

const classNames = <Row,>({ isNumber, isMinor }: Column<Row>): string | undefined =>
  [isNumber && "number", isMinor && "minor"].filter(Boolean).join(" ") || undefined;
