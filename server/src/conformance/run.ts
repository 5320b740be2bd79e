// Runs all checks against an adapter: those that may disturb each other one after the other, those
// about everything that was reported at the end.
import { Capabilities } from '../connectors/ports/providers/protocol.ts';
import { type Check, type CheckGroup, type CheckResult, resultOf } from './check.ts';
import { cancelChecks, noCancelChecks } from './checks/cancel.ts';
import { cardChecks } from './checks/cards.ts';
import { custodyChecks } from './checks/custody.ts';
import { depositChecks } from './checks/deposits.ts';
import { messageChecks, receivedChecks } from './checks/messages.ts';
import { consistencyChecks, outcomeChecks } from './checks/outcomes.ts';
import { quoteChecks } from './checks/quotes.ts';
import { recallChecks } from './checks/recalls.ts';
import { restartChecks } from './checks/restart.ts';
import { rotationChecks } from './checks/rotation.ts';
import { signatureChecks } from './checks/signatures.ts';
import { stablecoinChecks } from './checks/stablecoins.ts';
import { statementChecks } from './checks/statements.ts';
import { transferChecks } from './checks/transfers.ts';
import { openTrial, type Trial, type TrialParts } from './trial.ts';

/** A capability of the protocol adds its groups here. */
const GROUPS: readonly CheckGroup[] = [
  transferChecks,
  outcomeChecks,
  cancelChecks,
  noCancelChecks,
  recallChecks,
  signatureChecks,
  rotationChecks,
  messageChecks,
  depositChecks,
  cardChecks,
  statementChecks,
  quoteChecks,
  stablecoinChecks,
  custodyChecks,
  restartChecks,
  consistencyChecks,
  receivedChecks,
];

const capabilityCheck = (read: () => Promise<Capabilities>): Check => ({
  name: 'capabilities.read',
  tried: 'what the adapter offers',
  expected: 'protocol "1", and valid capabilities',
  remedy: 'Return the capabilities of docs/providers/openapi.json from /capabilities.',
  async run() {
    const { transfers = [], cancel = false, ...others } = await read();
    const served = transfers.map(
      ({ rails, currencies }) => `${currencies.join()} by ${rails.join()}`,
    );
    const features = Object.keys(others).filter((name) => name !== 'protocol');
    return [...served, ...(cancel ? ['cancel'] : []), ...features].join('; ') || 'nothing';
  },
});

interface RunOptions {
  /** Whether a check runs, by its name. */
  isSelected(name: string): boolean;
  /** Called when a check has ended. */
  progress?(result: CheckResult): void;
}

/** Calls at the same time: an adapter must serve several. */
const CONCURRENCY = 6;

async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < items.length; index = next++) {
      results[index] = await work(items[index] as T);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return results;
}

/** The results of the checks, in the order of the report. */
export async function runChecks(parts: TrialParts, options: RunOptions): Promise<CheckResult[]> {
  const empty = openTrial(parts, { protocol: '1' });
  let capabilities: Capabilities | undefined;
  const done = (result: CheckResult) => {
    options.progress?.(result);
    return result;
  };
  const first = await resultOf(
    capabilityCheck(async () => {
      capabilities = await empty.read('/capabilities', {}, Capabilities);
      return capabilities;
    }),
    empty,
  );
  done(first);
  if (!capabilities) return [first];
  const offered = capabilities;
  const trial = openTrial(parts, offered);
  const groups = GROUPS.filter((group) => group.applies(offered, trial));
  const checksOf = (when: CheckGroup['when']) =>
    groups
      .filter((group) => group.when === when)
      .flatMap(({ checks }) => checks)
      .filter(({ name }) => options.isSelected(name));
  const run = async (check: Check, of: Trial) => done(await resultOf(check, of));
  const together = await inParallel(checksOf('together'), (check) => run(check, trial));
  const alone: CheckResult[] = [];
  for (const check of checksOf('alone')) alone.push(await run(check, trial));
  // Late messages and contradictions.
  if (trial.transfers.size > 0) await trial.quiet();
  const last: CheckResult[] = [];
  for (const check of checksOf('last')) last.push(await run(check, trial));
  return [first, ...together, ...alone, ...last];
}
