// Types of the rules in `invariants.ts` and its parts, and the constructor of rules that check each
// changed item.
import type { Model, RecordedRow } from '../model/model.ts';
import type { ChangedItems } from './touched.ts';

/** IDs of delivered events. */
export type DeliveredIds = Set<string>;

export interface ChangeRule {
  name: string;
  table: string;
  /** Checks one row change, with the model after the change. */
  check(model: Model, before: RecordedRow | null, after: RecordedRow | null): string | undefined;
}

export interface StepRule {
  name: string;
  check(model: Model, changedItems: ChangedItems, deliveredIds: DeliveredIds): Iterable<string>;
}

/** A rule that checks each changed item separately. */
export const rule = (
  name: string,
  subjects: keyof ChangedItems,
  problemOf: (model: Model, id: string) => string | undefined,
): StepRule => ({
  name,
  *check(model, changedItems) {
    for (const id of changedItems[subjects]) {
      const problem = problemOf(model, id);
      if (problem) yield `${id} ${problem}`;
    }
  },
});
