/** Optional members instead of columns without a value. */
type WithoutNulls<T> = {
  readonly [K in keyof T as null extends T[K] ? never : K]: T[K];
} & {
  readonly [K in keyof T as null extends T[K] ? K : never]?: NonNullable<T[K]>;
};

/** Returns the members that are not null, in their order. */
export function withoutNulls<T extends object>(members: T): WithoutNulls<T> {
  const present: Record<string, unknown> = {};
  for (const name of Object.keys(members)) {
    const value = (members as Record<string, unknown>)[name];
    if (value !== null) present[name] = value;
  }
  return present as WithoutNulls<T>;
}
