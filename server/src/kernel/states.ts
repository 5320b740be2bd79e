// A lifecycle is a table from state and event to state, which handlers, tests and documentation share. A
// transition outside the table is rejected before it can be staged. The definition of a database table also
// names its lifecycle, by which every change of a row is checked again.

type Transitions<S extends string, E extends string> = Readonly<
  Record<S, Readonly<Partial<Record<E, S>>>>
>;

/** A lifecycle for checks of rows. */
export interface Lifecycle {
  readonly name: string;
  readonly transitions: Readonly<Record<string, Readonly<Record<string, string | undefined>>>>;
  /** Whether a row may change directly from one state to the other. The same state is allowed. */
  allows(from: string, to: string): boolean;
}

const NO_TRANSITION = 'NO_TRANSITION';

/**
 * The error of a transition that a lifecycle does not have. The cause is a programming error, or rows that
 * were read partly before and partly after the commit of another request.
 */
export const noTransition = (message: string): Error =>
  Object.assign(new Error(message), { name: NO_TRANSITION });

export const isNoTransition = (error: unknown): boolean =>
  error instanceof Error && error.name === NO_TRANSITION;

/** Checks a table at compile time and returns its functions. */
export function stateTable<S extends string, E extends string>(
  name: string,
  transitions: Transitions<S, E>,
) {
  return {
    name,
    transitions,
    /** The states in which `event` is possible. */
    sourcesOf: (event: E): S[] =>
      (Object.keys(transitions) as S[]).filter((from) => transitions[from][event] !== undefined),
    /** The state after `event`, or undefined without a transition. */
    targetOf: (from: S, event: E): S | undefined => transitions[from][event],
    /** The state after `event`. Throws `noTransition` if there is none. */
    next(from: S, event: E): S {
      const target = transitions[from][event];
      if (target === undefined) throw noTransition(`${name}: no transition ${event} from ${from}`);
      return target;
    },
    allows: (from: string, to: string): boolean =>
      from === to || Object.values(transitions[from as S] ?? {}).includes(to),
  };
}
