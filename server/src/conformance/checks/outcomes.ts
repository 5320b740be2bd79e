// Checks of results: an adapter reports each of them, and never two that exclude each other.
import type { CheckGroup } from '../check.ts';
import { referencesOf, type Trial } from '../trial.ts';
import { problem } from '../verdict.ts';

const MODE =
  'In its test mode the adapter reads the outcome from remittanceInformation: "TEST SETTLED", ' +
  '"TEST FAILED", "TEST RETURNED" or "TEST HELD". See docs/guides/provider-adapters.md.';

/** States after which no state of another group is possible. */
const FINAL_GROUPS = [['settled', 'returned'], ['failed'], ['canceled']];
const NOT_FINAL = ['accepted', 'unknown', 'not found'];

/** What two reported states of one transfer contradict. */
function contradictionOf(trial: Trial, transferId: string): string | undefined {
  const history = trial.historyOf(transferId);
  const groups = FINAL_GROUPS.map((group) => history.find(({ state }) => group.includes(state)));
  const [one, other] = groups.flatMap((each) => each?.state ?? []);
  if (one !== undefined && other !== undefined) return `${one} and ${other}`;
  const replies = history.filter(({ source }) => source === 'reply').map(({ state }) => state);
  const final = replies.findIndex((state) => !NOT_FINAL.includes(state));
  const later =
    final < 0 ? undefined : replies.slice(final).find((each) => NOT_FINAL.includes(each));
  return later === undefined ? undefined : `${replies[final]}, later ${later}`;
}

const shortId = (transferId: string) => `transfer …${transferId.slice(-6)}`;

/** The result of a transfer, which a repeated call must return as well. */
async function result(trial: Trial, outcome: 'settled' | 'failed') {
  const transfer = trial.transfer(outcome);
  await trial.send(transfer);
  await trial.reaches(transfer.transferId, outcome);
  const { state } = await trial.send(transfer);
  if (state !== outcome) throw problem(`${outcome}, but ${state} when it is sent again`);
  return transfer;
}

export const outcomeChecks: CheckGroup = {
  applies: ({ transfers = [] }) => transfers.length > 0,
  when: 'together',
  checks: [
    {
      name: 'outcomes.settled',
      tried: 'a transfer that settles, sent again after it has settled',
      expected: 'settled, both times',
      remedy: MODE,
      async run(trial) {
        const { transferId } = await result(trial, 'settled');
        return `settled, ${referencesOf(trial, transferId).join(', ')}`;
      },
    },
    {
      name: 'outcomes.failed',
      tried: 'a transfer that fails, sent again after it has failed',
      expected: 'failed with a reason, both times',
      remedy: `${MODE} A transfer that has failed is never executed.`,
      async run(trial) {
        const { transferId } = await result(trial, 'failed');
        const state = await trial.state(transferId);
        return state?.state === 'failed' ? `failed, ${state.reason}` : 'failed';
      },
    },
    {
      name: 'outcomes.returned',
      tried: 'a transfer that settles and is returned later',
      expected: 'settled, then returned',
      remedy: `${MODE} Railhead requests no state after settlement, so a return needs a message.`,
      async run(trial) {
        const { transferId, ...transfer } = trial.transfer('returned');
        await trial.send({ transferId, ...transfer });
        await trial.reaches(transferId, 'settled', 'returned');
        await trial.reaches(transferId, 'returned');
        if (!trial.historyOf(transferId).some(({ state }) => state === 'settled')) {
          throw problem('returned, but never settled');
        }
        const state = await trial.state(transferId);
        if (state?.state !== 'returned') throw problem(`now ${state?.state ?? 'not found'}`);
        return 'settled, then returned';
      },
    },
  ],
};

export const consistencyChecks: CheckGroup = {
  applies: ({ transfers = [] }) => transfers.length > 0,
  when: 'last',
  checks: [
    {
      name: 'outcomes.final',
      tried: 'all states of each transfer are compared, in replies and messages',
      expected: 'never both settled and failed or canceled; a final state remains',
      remedy:
        'Store each result with its transfer, and report nothing that contradicts it. Until the bank ' +
        'is certain, the state is "unknown" or "accepted".',
      run(trial) {
        for (const transferId of trial.transfers.keys()) {
          const contradiction = contradictionOf(trial, transferId);
          if (contradiction) throw problem(`${shortId(transferId)}: ${contradiction}`);
        }
        return `${trial.transfers.size} transfers without a contradiction`;
      },
    },
    {
      name: 'outcomes.reference',
      tried: 'all references of each transfer are compared, in replies and messages',
      expected: 'one reference for each transfer',
      remedy:
        'A second reference is a second execution, or not the one of the statement. Report the ' +
        "bank's reference of the one payment.",
      run(trial) {
        for (const transferId of trial.transfers.keys()) {
          const references = referencesOf(trial, transferId);
          if (references.length > 1) {
            throw problem(`${shortId(transferId)}: ${references.join(', ')}`);
          }
        }
        return 'at most one for each transfer';
      },
    },
    {
      name: 'calls.deadline',
      tried: 'the slowest call is measured',
      expected: 'a response within 15 s, better 1 s',
      remedy: 'Respond with "accepted" or "unknown" at once, and wait for the bank afterwards.',
      run(trial) {
        const slowest = [...trial.durations].sort((a, b) => b.durationMs - a.durationMs)[0];
        return slowest ? `${slowest.durationMs} ms for ${slowest.path}` : 'no call';
      },
    },
  ],
};
