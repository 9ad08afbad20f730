/** JSON form of values with amounts. */

/** A type with its `bigint` members as decimal text. */
export type Json<T> = T extends bigint ? string : T extends object ? { [K in keyof T]: Json<T[K]> } : T;
