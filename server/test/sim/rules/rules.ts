// The shapes of the rules that hold after every step, as `invariants.ts` and its parts list them.
import type { Noted, Picture } from '../picture/picture.ts';
import type { Touched } from './touched.ts';

/** Events that some receiver has said yes to. */
export type Heard = Set<string>;

export interface NoteRule {
  name: string;
  table: string;
  /** Looks at one note, with the picture as it is right after it. */
  check(picture: Picture, was: Noted | null, now: Noted | null): string | undefined;
}

export interface StepRule {
  name: string;
  check(picture: Picture, touched: Touched, heard: Heard): Iterable<string>;
}

/** A rule that looks at each of what was touched by itself. */
export const rule = (
  name: string,
  of: keyof Touched,
  problemOf: (picture: Picture, id: string) => string | undefined,
): StepRule => ({
  name,
  *check(picture, touched) {
    for (const id of touched[of]) {
      const problem = problemOf(picture, id);
      if (problem) yield `${id} ${problem}`;
    }
  },
});
