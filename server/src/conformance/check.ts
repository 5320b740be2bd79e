// A check of an adapter: its action, the result that the protocol requires, and the function that
// performs it.
import type { Capabilities } from '../connectors/ports/providers/protocol.ts';
import type { Session } from './session.ts';
import { isSkipped, type Verdict } from './verdict.ts';

export interface Check {
  /** Group and name: `transfers.repeat`. */
  readonly name: string;
  readonly action: string;
  readonly expected: string;
  /** The change in the adapter that corrects a failed check. */
  readonly remedy: string;
  /**
   * Returns the actual result. Throws `failure` if it differs from the expected result, and
   * `skipError` if the check cannot run.
   */
  run(session: Session): Promise<string> | string;
}

export interface CheckGroup {
  /** Whether the adapter offers the capabilities that the checks require. */
  applies(capabilities: Capabilities, session: Session): boolean;
  /**
   * Checks of `parallel` run first and concurrently. Then the `sequential` and the `final` checks
   * run one at a time.
   */
  readonly phase: 'parallel' | 'sequential' | 'final';
  readonly checks: readonly Check[];
}

export interface CheckResult extends Omit<Check, 'run'> {
  readonly actual: string;
  readonly verdict: Verdict;
}

export async function resultOf(check: Check, session: Session): Promise<CheckResult> {
  const { run, ...description } = check;
  try {
    return { ...description, actual: await run(session), verdict: 'passed' };
  } catch (error) {
    const verdict = isSkipped(error) ? 'skipped' : 'failed';
    return { ...description, actual: (error as Error).message, verdict };
  }
}
