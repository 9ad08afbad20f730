/** Formats a count with its noun, given in the plural: `1 transaction`, `2 deliveries`. */
export const countOf = (count: number, plural: string): string =>
  `${count} ${count === 1 ? plural.replace(/ies$/, "y").replace(/s$/, "") : plural}`;
