// Runs all checks against an adapter. Checks that disturb others run one at a time, and checks of
// all reported states and messages run at the end.
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
import { openSession, type SessionContext } from './session.ts';

/** The checks of all capabilities of the protocol. */
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
  action: 'the capabilities are requested',
  expected: 'valid capabilities with protocol "1"',
  remedy: 'Return the capabilities of docs/providers/openapi.json from /capabilities.',
  async run() {
    const { transfers = [], cancel = false, ...otherCapabilities } = await read();
    const transferTexts = transfers.map(
      ({ rails, currencies }) => `${currencies.join()} by ${rails.join()}`,
    );
    const features = Object.keys(otherCapabilities).filter((name) => name !== 'protocol');
    return [...transferTexts, ...(cancel ? ['cancel'] : []), ...features].join('; ') || 'nothing';
  },
});

interface RunOptions {
  /** Whether a check runs, by its name. */
  isSelected(name: string): boolean;
  /** Called when a check is complete. */
  progress?(result: CheckResult): void;
}

/** Number of concurrent checks. An adapter must support concurrent calls. */
const CONCURRENCY = 6;

async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let nextIndex = 0;
  const worker = async () => {
    for (let index = nextIndex++; index < items.length; index = nextIndex++) {
      results[index] = await work(items[index] as T);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return results;
}

/**
 * Runs the checks. Returns their results in the order of the report. Invalid capabilities end the
 * run.
 */
export async function runChecks(
  context: SessionContext,
  options: RunOptions,
): Promise<CheckResult[]> {
  const initialSession = openSession(context, { protocol: '1' });
  let capabilities: Capabilities | undefined;
  const reportProgress = (result: CheckResult) => {
    options.progress?.(result);
    return result;
  };
  const capabilityResult = await resultOf(
    capabilityCheck(async () => {
      capabilities = await initialSession.read('/capabilities', {}, Capabilities);
      return capabilities;
    }),
    initialSession,
  );
  reportProgress(capabilityResult);
  if (!capabilities) return [capabilityResult];
  const offeredCapabilities = capabilities;
  const session = openSession(context, offeredCapabilities);
  const groups = GROUPS.filter((group) => group.applies(offeredCapabilities, session));
  const checksOf = (phase: CheckGroup['phase']) =>
    groups
      .filter((group) => group.phase === phase)
      .flatMap(({ checks }) => checks)
      .filter(({ name }) => options.isSelected(name));
  const run = async (check: Check) => reportProgress(await resultOf(check, session));
  const parallelResults = await inParallel(checksOf('parallel'), run);
  const sequentialResults: CheckResult[] = [];
  for (const check of checksOf('sequential')) sequentialResults.push(await run(check));
  // The final checks include late messages.
  if (session.transfers.size > 0) await session.waitQuietPeriod();
  const finalResults: CheckResult[] = [];
  for (const check of checksOf('final')) finalResults.push(await run(check));
  return [capabilityResult, ...parallelResults, ...sequentialResults, ...finalResults];
}
