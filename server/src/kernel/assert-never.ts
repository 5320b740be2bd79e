// Ends a `switch` over a closed union: a member without a case does not compile.

/**
 * Throws for a value that no case handles, though its type allows none. `what` names the union in
 * the log.
 */
export function assertNever(_value: never, what: string): never {
  throw new Error(`a ${what} that no case handles`);
}
