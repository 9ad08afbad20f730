/** A list as a table; where there is no room for columns, each row is a card. */
import type { ComponentChildren } from "preact";

export type Column<Row> = {
  /** Head of the column; a card has it before the value. */
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers: at the end of the cell. */
  readonly isNumber?: boolean;
  /** Left out where there is little room. */
  readonly isMinor?: boolean;
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
};

export function Table<Row>({ caption, columns, rows, keyOf, classOf, empty }: TableProps<Row>) {
  if (rows.length === 0) return <>{empty}</>;
  return (
    <div class="table">
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
              {columns.map((column) => (
                <td key={column.title} data-title={column.title} class={classNames(column)}>
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

const classNames = <Row,>({ isNumber, isMinor }: Column<Row>): string | undefined =>
  [isNumber && "number", isMinor && "minor"].filter(Boolean).join(" ") || undefined;
