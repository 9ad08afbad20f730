/** @throws {Error} if the value is missing */
export function present<Value>(value: Value): NonNullable<Value> {
  if (value === undefined || value === null) throw new Error("a value is missing");
  return value;
}

/** Returns the first entry of a list of the API. */
export async function firstOf<Entry>(list: {
  page(options: { readonly limit: number }): Promise<{ readonly data: readonly Entry[] }>;
}): Promise<NonNullable<Entry>> {
  return present((await list.page({ limit: 1 })).data[0]);
}
