// A check of an adapter: what is tried, what the protocol requires, and the function that tries it.
import type { Capabilities } from '../connectors/ports/providers/protocol.ts';
import type { Trial } from './trial.ts';
import { isSkipped, type Verdict } from './verdict.ts';

export interface Check {
  /** Group and name, as in the report: `transfers.repeat`. */
  readonly name: string;
  readonly tried: string;
  readonly expected: string;
  /** What to change in the adapter if the check fails. */
  readonly remedy: string;
  /** Returns what was seen. Throws if that is not what is expected. */
  run(trial: Trial): Promise<string> | string;
}

export interface CheckGroup {
  /** Whether the adapter offers what the checks try. */
  applies(capabilities: Capabilities, trial: Trial): boolean;
  /** `together`: at the same time as others. `alone`: one after the other, later. `last`: at the end. */
  readonly when: 'together' | 'alone' | 'last';
  readonly checks: readonly Check[];
}

export interface CheckResult extends Omit<Check, 'run'> {
  readonly seen: string;
  readonly verdict: Verdict;
}

export async function resultOf(check: Check, trial: Trial): Promise<CheckResult> {
  const { run, ...description } = check;
  try {
    return { ...description, seen: await run(trial), verdict: 'passed' };
  } catch (error) {
    const verdict = isSkipped(error) ? 'skipped' : 'failed';
    return { ...description, seen: (error as Error).message, verdict };
  }
}
