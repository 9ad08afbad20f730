/** Proofs with one altered byte or member. */
import type { Random } from "./scene.ts";

type Mutation = { readonly mutated: unknown; readonly name: string };

/** Returns a copy of a proof, of any form, in which one value is altered, removed, repeated or moved. */
export function mutate(proof: object, random: Random): Mutation {
  const mutation = tryToMutate(proof, random);
  const isSame = JSON.stringify(mutation.mutated) === JSON.stringify(proof);
  return isSame ? mutate(proof, random) : mutation;
}

function tryToMutate(proof: object, random: Random): Mutation {
  const mutated = structuredClone(proof) as unknown as Record<string, unknown>;
  const places = placesOf(mutated, "");
  const { holder, key, path } = random.pick(places);
  const value = Reflect.get(holder, key);
  const kind = random.below(6);
  if (Array.isArray(holder) && kind < 3)
    return { mutated, name: `${path}: ${mutateList(holder, Number(key), random)}` };
  Reflect.set(holder, key, mutatedValue(value, random));
  return { mutated, name: `${path}: ${JSON.stringify(value)?.slice(0, 80)}` };
}

type Place = { readonly holder: object; readonly key: string; readonly path: string };

/** Lists all members and items, at any depth. */
function placesOf(holder: object, path: string): Place[] {
  return Object.keys(holder).flatMap((key) => {
    const value: unknown = Reflect.get(holder, key);
    const below = `${path}/${key}`;
    const inner = typeof value === "object" && value !== null ? placesOf(value, below) : [];
    return [{ holder, key, path: below }, ...inner];
  });
}

function mutateList(list: unknown[], index: number, random: Random): string {
  const change = random.below(3);
  if (change === 0) {
    list.splice(index, 1);
    return "removed";
  }
  if (change === 1 || list.length < 2) {
    list.splice(index, 0, structuredClone(list[index]));
    return "repeated";
  }
  const other = (index + 1 + random.below(list.length - 1)) % list.length;
  [list[index], list[other]] = [list[other], list[index]];
  return `exchanged with ${other}`;
}

function mutatedValue(value: unknown, random: Random): unknown {
  if (typeof value === "string") return mutatedText(value, random);
  if (typeof value === "number") return value + 1 + random.below(5);
  if (value === null) return `02${"0123456789abcdef".repeat(4)}`;
  return random.pick([null, 0, "", {}]);
}

function mutatedText(text: string, random: Random): unknown {
  const at = random.below(text.length);
  switch (random.below(6)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return `${text}00`;
    case 2:
      return null;
    case 3:
      return /[a-f]/.test(text) ? text.replace(/[a-f]/, (digit) => digit.toUpperCase()) : "";
    default:
      return (
        text.slice(0, at) +
        random.pick([..."0123456789abcdef"].filter((digit) => digit !== text[at])) +
        text.slice(at + 1)
      );
  }
}
