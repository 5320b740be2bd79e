// Checks of outcomes: an adapter must report each outcome, and must not report contradictory ones.
import type { CheckGroup } from '../check.ts';
import { referencesOf, type Session } from '../session.ts';
import { failure } from '../verdict.ts';

const TEST_MODE_REMEDY =
  'In the test mode, produce the outcome that remittanceInformation requests: "TEST SETTLED", ' +
  '"TEST FAILED", "TEST RETURNED" or "TEST HELD". See docs/guides/provider-adapters.md.';

/** Groups of final states. States of two groups contradict each other. */
const FINAL_GROUPS = [['settled', 'returned'], ['failed'], ['canceled']];
const NOT_FINAL = ['accepted', 'unknown', 'not found'];

/** Returns two contradictory states of a transfer, or undefined if there are none. */
function contradictionOf(session: Session, transferId: string): string | undefined {
  const history = session.historyOf(transferId);
  const groups = FINAL_GROUPS.map((group) => history.find(({ state }) => group.includes(state)));
  const [firstState, secondState] = groups.flatMap((each) => each?.state ?? []);
  if (firstState !== undefined && secondState !== undefined)
    return `${firstState} and ${secondState}`;
  const replies = history.filter(({ source }) => source === 'reply').map(({ state }) => state);
  const finalIndex = replies.findIndex((state) => !NOT_FINAL.includes(state));
  const laterState =
    finalIndex < 0 ? undefined : replies.slice(finalIndex).find((each) => NOT_FINAL.includes(each));
  return laterState === undefined ? undefined : `${replies[finalIndex]}, later ${laterState}`;
}

const shortId = (transferId: string) => `transfer …${transferId.slice(-6)}`;

/**
 * Sends a transfer, and sends it again after its outcome. The second reply must contain the
 * outcome.
 */
async function sendTwice(session: Session, outcome: 'settled' | 'failed') {
  const transfer = session.transfer(outcome);
  await session.send(transfer);
  await session.waitForState(transfer.transferId, outcome);
  const { state } = await session.send(transfer);
  if (state !== outcome) {
    throw failure(`first ${outcome}, and ${state} in the reply to the repeated call`);
  }
  return transfer;
}

export const outcomeChecks: CheckGroup = {
  applies: ({ transfers = [] }) => transfers.length > 0,
  phase: 'parallel',
  checks: [
    {
      name: 'outcomes.settled',
      action: 'a transfer settles, and is sent again',
      expected: 'the state "settled", also in the second reply',
      remedy: TEST_MODE_REMEDY,
      async run(session) {
        const { transferId } = await sendTwice(session, 'settled');
        return `settled, ${referencesOf(session, transferId).join(', ')}`;
      },
    },
    {
      name: 'outcomes.failed',
      action: 'a transfer fails, and is sent again',
      expected: 'the state "failed" with a reason, also in the second reply',
      remedy: `${TEST_MODE_REMEDY} Never execute a failed transfer.`,
      async run(session) {
        const { transferId } = await sendTwice(session, 'failed');
        const state = await session.state(transferId);
        return state?.state === 'failed' ? `failed, ${state.reason}` : 'failed';
      },
    },
    {
      name: 'outcomes.returned',
      action: 'a transfer settles, and is returned later',
      expected: 'the state "settled", then "returned"',
      remedy:
        `${TEST_MODE_REMEDY} Report a return by a message, because Railhead requests no states after ` +
        'settlement.',
      async run(session) {
        const { transferId, ...transfer } = session.transfer('returned');
        await session.send({ transferId, ...transfer });
        await session.waitForState(transferId, 'settled', 'returned');
        await session.waitForState(transferId, 'returned');
        if (!session.historyOf(transferId).some(({ state }) => state === 'settled')) {
          throw failure('returned, but settlement was not reported');
        }
        const state = await session.state(transferId);
        if (state?.state !== 'returned') {
          throw failure(`the state is ${state?.state ?? 'not found'}`);
        }
        return 'settled, then returned';
      },
    },
  ],
};

export const consistencyChecks: CheckGroup = {
  applies: ({ transfers = [] }) => transfers.length > 0,
  phase: 'final',
  checks: [
    {
      name: 'outcomes.final',
      action: 'the states of each transfer in replies and messages are compared',
      expected: 'no contradictory states. No "accepted", "unknown" or 404 follows a final state',
      remedy:
        'Store each outcome with its transfer, and report no state that contradicts it. Until the bank ' +
        'confirms an outcome, return "unknown" or "accepted".',
      run(session) {
        for (const transferId of session.transfers.keys()) {
          const contradiction = contradictionOf(session, transferId);
          if (contradiction) throw failure(`${shortId(transferId)}: ${contradiction}`);
        }
        return `${session.transfers.size} transfers without a contradiction`;
      },
    },
    {
      name: 'outcomes.reference',
      action: 'the references of each transfer in replies and messages are compared',
      expected: 'at most one reference per transfer',
      remedy:
        'Execute each transfer once, and always report the reference that the bank shows on its ' +
        'statement.',
      run(session) {
        for (const transferId of session.transfers.keys()) {
          const references = referencesOf(session, transferId);
          if (references.length > 1) {
            throw failure(`${shortId(transferId)}: ${references.join(', ')}`);
          }
        }
        return 'at most one reference per transfer';
      },
    },
    {
      name: 'calls.deadline',
      action: 'the slowest call is measured',
      expected: 'a response within 15 s. Less than 1 s is recommended',
      remedy: 'Respond with "accepted" or "unknown" without waiting for the bank.',
      run(session) {
        const slowestCall = [...session.durations].sort((a, b) => b.durationMs - a.durationMs)[0];
        return slowestCall ? `${slowestCall.durationMs} ms for ${slowestCall.path}` : 'no call';
      },
    },
  ],
};
