// Checks of cancellation: a canceled transfer is never executed, and a settled one stays settled.
import type { Check, CheckGroup } from '../check.ts';
import type { Trial } from '../trial.ts';
import { problem } from '../verdict.ts';

async function canceledTransfer(trial: Trial) {
  const transfer = trial.transfer('held');
  await trial.send(transfer);
  const result = await trial.cancel(transfer.transferId);
  if (result !== 'canceled' && result !== 'accepted') throw problem(result);
  await trial.reaches(transfer.transferId, 'canceled');
  return { transfer, result };
}

const rejected = (result: string): string => {
  if (result === 'rejected' || result === 'not found') return result;
  throw problem(result);
};

const offered: readonly Check[] = [
  {
    name: 'cancel.held',
    tried: 'a transfer that is not executed yet is canceled',
    expected: 'canceled, at once or later',
    remedy: 'Return "canceled", or "accepted" until the state is "canceled".',
    run: async (trial) => (await canceledTransfer(trial)).result,
  },
  {
    name: 'cancel.sent-again',
    tried: 'a canceled transfer is sent again',
    expected: 'still canceled: it is never executed',
    remedy: 'Return the stored state "canceled" to later calls with this transferId.',
    async run(trial) {
      const { transfer } = await canceledTransfer(trial);
      const { state } = await trial.send(transfer);
      if (state !== 'canceled') throw problem(state);
      return state;
    },
  },
  {
    name: 'cancel.settled',
    tried: 'a settled transfer is canceled',
    expected: 'rejected, and it remains settled',
    remedy: 'Return "rejected" for a transfer that was executed.',
    async run(trial) {
      const transfer = trial.transfer('settled');
      await trial.send(transfer);
      await trial.reaches(transfer.transferId, 'settled');
      const result = rejected(await trial.cancel(transfer.transferId));
      const state = await trial.state(transfer.transferId);
      if (state?.state !== 'settled') throw problem(`now ${state?.state ?? 'not found'}`);
      return result;
    },
  },
  {
    name: 'cancel.unknown',
    tried: 'a transfer that was never sent is canceled',
    expected: 'status 404, or rejected',
    remedy: 'Return 404 from /transfers/cancel unless the transfer is stored.',
    run: async (trial) => rejected(await trial.cancel(trial.transfer('held').transferId)),
  },
];

export const cancelChecks: CheckGroup = {
  applies: ({ transfers = [], cancel }) => transfers.length > 0 && cancel === true,
  when: 'together',
  checks: offered,
};

export const noCancelChecks: CheckGroup = {
  applies: ({ transfers = [], cancel }) => transfers.length > 0 && cancel !== true,
  when: 'together',
  checks: [
    {
      name: 'cancel.not-offered',
      tried: 'a transfer is canceled, although the adapter does not offer it',
      expected: 'rejected, or status 404',
      remedy: 'Offer `cancel` in /capabilities, or return "rejected".',
      async run(trial) {
        const transfer = trial.transfer('held');
        await trial.send(transfer);
        return rejected(await trial.cancel(transfer.transferId));
      },
    },
  ],
};
