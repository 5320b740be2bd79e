// Checks of cancellation: a canceled transfer is never executed, and a settled transfer cannot be
// canceled.
import type { Check, CheckGroup } from '../check.ts';
import type { Session } from '../session.ts';
import { failure } from '../verdict.ts';

async function cancelHeldTransfer(session: Session) {
  const transfer = session.transfer('held');
  await session.send(transfer);
  const result = await session.cancel(transfer.transferId);
  if (result !== 'canceled' && result !== 'accepted') throw failure(result);
  await session.waitForState(transfer.transferId, 'canceled');
  return { transfer, result };
}

/** Throws unless the cancellation was rejected or the transfer was not found. */
const assertRejected = (result: string): string => {
  if (result === 'rejected' || result === 'not found') return result;
  throw failure(result);
};

const checksOfCancellation: readonly Check[] = [
  {
    name: 'cancel.held',
    action: 'a transfer is canceled before its execution',
    expected: 'the state "canceled", immediately or later',
    remedy: 'Return "canceled", or "accepted" until the state is "canceled".',
    run: async (session) => (await cancelHeldTransfer(session)).result,
  },
  {
    name: 'cancel.resend',
    action: 'a canceled transfer is sent again',
    expected: 'the state is still "canceled"',
    remedy: 'Return the stored state "canceled" to later calls with this transferId.',
    async run(session) {
      const { transfer } = await cancelHeldTransfer(session);
      const { state } = await session.send(transfer);
      if (state !== 'canceled') throw failure(state);
      return state;
    },
  },
  {
    name: 'cancel.settled',
    action: 'a settled transfer is canceled',
    expected: 'the result "rejected" or status 404, and the state is still "settled"',
    remedy: 'Return "rejected" for a transfer that was executed.',
    async run(session) {
      const transfer = session.transfer('settled');
      await session.send(transfer);
      await session.waitForState(transfer.transferId, 'settled');
      const result = assertRejected(await session.cancel(transfer.transferId));
      const state = await session.state(transfer.transferId);
      if (state?.state !== 'settled') {
        throw failure(`the state is ${state?.state ?? 'not found'}`);
      }
      return result;
    },
  },
  {
    name: 'cancel.unknown',
    action: 'a transfer that was never sent is canceled',
    expected: 'status 404, or the result "rejected"',
    remedy: 'Return 404 from /transfers/cancel unless the transfer is stored.',
    run: async (session) =>
      assertRejected(await session.cancel(session.transfer('held').transferId)),
  },
];

export const cancelChecks: CheckGroup = {
  applies: ({ transfers = [], cancel }) => transfers.length > 0 && cancel === true,
  phase: 'parallel',
  checks: checksOfCancellation,
};

export const noCancelChecks: CheckGroup = {
  applies: ({ transfers = [], cancel }) => transfers.length > 0 && cancel !== true,
  phase: 'parallel',
  checks: [
    {
      name: 'cancel.not-offered',
      action: 'a transfer is canceled, although the adapter does not offer cancellation',
      expected: 'the result "rejected", or status 404',
      remedy: 'Set `cancel` to true in /capabilities, or return "rejected".',
      async run(session) {
        const transfer = session.transfer('held');
        await session.send(transfer);
        return assertRejected(await session.cancel(transfer.transferId));
      },
    },
  ],
};
