// Default case of a `switch` over a closed union, where a member without a case does not compile.

/**
 * Throws for a value without a case, which can only result from data that violates its type. `union` is the
 * description of the union in the log.
 */
export function assertNever(_value: never, union: string): never {
  throw new Error(`a ${union} that no case handles`);
}
