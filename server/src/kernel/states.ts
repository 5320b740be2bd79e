// A lifecycle is a table from state and event to state. A move the table lacks is refused before it can
// be staged, so no handler can invent one; the same table feeds the tests and the documentation. A handler
// asks by event; the description of a database table names its lifecycle too, and then every change of a
// row is held against it once more, whoever makes it.

type Transitions<S extends string, E extends string> = Readonly<
  Record<S, Readonly<Partial<Record<E, S>>>>
>;

/** What the keepers of rows need to know of a lifecycle. */
export interface Lifecycle {
  readonly name: string;
  readonly transitions: Readonly<Record<string, Readonly<Record<string, string | undefined>>>>;
  /** Whether a row may go from one state to the other at once; staying is no move. */
  allows(from: string, to: string): boolean;
}

/** Checks a table at compile time and gives back `next`. */
export function stateTable<S extends string, E extends string>(
  name: string,
  transitions: Transitions<S, E>,
) {
  return {
    name,
    transitions,
    /** The state after `event`, or undefined where the move is not allowed. */
    peek: (from: S, event: E): S | undefined => transitions[from][event],
    /** The state after `event`; throws on a move that is not in the table, which is our own mistake. */
    next(from: S, event: E): S {
      const to = transitions[from][event];
      if (to === undefined) throw new Error(`${name}: no transition ${event} from ${from}`);
      return to;
    },
    allows: (from: string, to: string): boolean =>
      from === to || Object.values(transitions[from as S] ?? {}).includes(to),
  };
}
