/** Members of assets. */
import { present } from "../present.ts";
import type { Asset } from "./transaction.ts";

/**
 * Returns a member that the schema of the type requires.
 *
 * @throws {TypeError} if it is absent
 */
export const assetMember = <Name extends keyof Asset>(
  asset: Asset | undefined,
  name: Name,
): NonNullable<Asset[Name]> => present(asset?.[name], `asset.${name}`);
