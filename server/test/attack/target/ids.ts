// IDs of resources by kind, collected from replies, so that generated requests refer to existing resources.
import type { Chance } from '../../sim/harness/chance.ts';

/** IDs of all kinds in a string. */
export const ID =
  /\b([A-Z][A-Za-z]+):(?:\d+-)?[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
/** Further IDs replace earlier IDs. */
const MAX_PER_KIND = 40;

export interface Ids {
  /** Adds all IDs in a string. */
  collect(text: string): void;
  /** A random known ID of the same kind, or undefined if none is known. */
  similar(id: string, chance: Chance): string | undefined;
  /** An ID for a path parameter, such as `customerId`. */
  forParameter(name: string, chance: Chance): string | undefined;
  pickAny(chance: Chance): string | undefined;
  allIds(): string[];
}

/** Kinds of path parameters whose names differ from the kind. */
const KINDS: Record<string, string> = {
  accountId: 'InternalAccount',
  eventId: 'Webhook',
  policyId: 'ApprovalPolicy',
  importId: 'BulkCustomerImportJob',
  keyId: 'SigningKey',
  resetId: 'ScaReset',
  subjectId: 'Customer',
};

export function createIds(): Ids {
  const idsByKind = new Map<string, string[]>();
  let nextIndex = 0;

  function add(kind: string, id: string): void {
    const knownIds = idsByKind.get(kind) ?? [];
    idsByKind.set(kind, knownIds);
    if (knownIds.includes(id)) return;
    if (knownIds.length < MAX_PER_KIND) knownIds.push(id);
    else knownIds[nextIndex++ % MAX_PER_KIND] = id;
  }

  const pick = (kind: string, chance: Chance) => {
    const knownIds = idsByKind.get(kind);
    return knownIds && chance.pick(knownIds);
  };
  const pickAny = (chance: Chance) => pick(chance.pick([...idsByKind.keys(), 'Customer']), chance);

  return {
    collect(text) {
      for (const match of text.matchAll(ID)) add(match[1] as string, match[0]);
    },
    similar: (id, chance) => pick(id.slice(0, Math.max(0, id.indexOf(':'))), chance),
    forParameter(name, chance) {
      const base = name.replace(/Id$/, '');
      const kind = KINDS[name] ?? base.slice(0, 1).toUpperCase() + base.slice(1);
      return pick(kind, chance) ?? pickAny(chance);
    },
    pickAny,
    allIds: () => [...idsByKind.values()].flat(),
  };
}
