/** Returns the set with or without one member. */
export function setMember<Member>(
  chosen: ReadonlySet<Member>,
  member: Member,
  isChosen: boolean,
): ReadonlySet<Member> {
  const changed = new Set(chosen);
  if (isChosen) changed.add(member);
  else changed.delete(member);
  return changed;
}
