/** Table; on narrow screens, each row has two lines. */
import type { ComponentChildren } from "preact";

/** Line of a narrow row and position in it: start (`a`), middle (`b`) or end (`c`). */
export type Place = "1a" | "1b" | "1c" | "2a" | "2b" | "2c" | "none";

export type Column<Row> = {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers are aligned at the end of the cell. */
  readonly isNumber?: boolean;
  /** Hidden on narrow screens. */
  readonly isMinor?: boolean;
  /** Position in a narrow row. Default: first and last column in the first line, three others in the second. */
  readonly narrow?: Place;
};

export type TableProps<Row> = {
  /** Caption for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row, index: number) => string | number;
  /** Class of highlighted rows. */
  readonly classOf?: (row: Row) => string | undefined;
  /** Shown if there are no rows. */
  readonly empty: ComponentChildren;
  /** Fixes the sizes of columns and rows; long texts are cut off. */
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

/** A first column without a middle column spans both (`w`). */
export function placesOf(columns: readonly Pick<Column<never>, "isMinor" | "narrow">[]): readonly string[] {
  const isChosen = columns.some(({ narrow }) => narrow !== undefined);
  const shown = columns.filter(({ isMinor }) => !isMinor);
  const automatic = new Map(shown.map((column, index) => [column, automaticPlace(index, shown.length)]));
  const places = columns.map((column) => (isChosen ? column.narrow : automatic.get(column)) ?? "none");
  return places.map((place) =>
    place.endsWith("a") && !places.includes(`${place[0]}b`) ? `${place[0]}w` : place,
  );
}

function automaticPlace(index: number, count: number): string | undefined {
  if (index === 0) return "1a";
  return index === count - 1 ? "1c" : ["2a", "2b", "2c"][index - 1];
}

const classNames = <Row,>({ isNumber, isMinor }: Column<Row>): string | undefined =>
  [isNumber && "number", isMinor && "minor"].filter(Boolean).join(" ") || undefined;
