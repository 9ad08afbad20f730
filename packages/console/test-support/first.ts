import { present } from "@uniknode/protocol";

/** Returns the first entry of a list of the API. */
export async function firstOf<Entry>(list: {
  page(options: { readonly limit: number }): Promise<{ readonly data: readonly Entry[] }>;
}): Promise<NonNullable<Entry>> {
  return present((await list.page({ limit: 1 })).data[0]);
}
