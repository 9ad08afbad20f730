/** Shows a delegate by its disclosed name. */
import { useDelegateNames } from "./delegate-names.ts";
import { hrefOf, Identifier } from "./identifier.tsx";

/** @param id its username or public key */
export function DelegateName({ id, name }: { id: string; name?: string }) {
  const known = useDelegateNames().get(id);
  return <Identifier id={id} what="delegate" href={hrefOf.delegate(id)} name={name ?? known ?? id} />;
}
