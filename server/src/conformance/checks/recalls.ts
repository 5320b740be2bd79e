// Checks of recalls: the decision is final, and only a granted recall is followed by a return.
import { RecallState } from '../../connectors/ports/providers/recalls.ts';
import type { CheckGroup } from '../check.ts';
import type { Transfer } from '../transfers.ts';
import type { Trial } from '../trial.ts';
import { problem } from '../verdict.ts';

const MODE =
  'In its test mode the adapter grants the recall of a transfer with the text "TEST RECALLED", and ' +
  'rejects that of others.';

const request = (trial: Trial, { transferId, amount, currency }: Transfer) =>
  trial.read(
    '/transfers/recall',
    { transferId, amount, currency, cause: 'CUSTOMER_REQUEST' },
    RecallState,
  );

async function settled(trial: Trial, outcome: 'settled' | 'recalled'): Promise<Transfer> {
  const transfer = trial.transfer(outcome);
  await trial.send(transfer);
  await trial.reaches(transfer.transferId, 'settled');
  return transfer;
}

/** The decision, from a reply or a message. */
async function decisionOf(trial: Trial, transfer: Transfer): Promise<string> {
  const decided = await trial.until(async () => {
    const { state } = await request(trial, transfer);
    return state === 'requested' ? undefined : state;
  });
  if (decided === undefined) throw problem('no decision');
  return decided;
}

export const recallChecks: CheckGroup = {
  applies: ({ transfers = [], recall }) => transfers.length > 0 && recall === true,
  when: 'together',
  checks: [
    {
      name: 'recalls.granted',
      tried: 'the return of a settled transfer is requested twice, and granted',
      expected: 'accepted, then the transfer is returned once',
      remedy: `${MODE} Report the transfer as returned when the money is back, not when it is granted.`,
      async run(trial) {
        const transfer = await settled(trial, 'recalled');
        await Promise.all([request(trial, transfer), request(trial, transfer)]);
        const decision = await decisionOf(trial, transfer);
        if (decision !== 'accepted') throw problem(decision);
        await trial.reaches(transfer.transferId, 'returned');
        await trial.quiet();
        const returns = trial.messagesOf({
          type: 'transfer.updated',
          transferId: transfer.transferId,
        });
        const count = returns.filter(({ body }) => body.includes('"returned"')).length;
        if (count > 1) throw problem(`returned ${count} times`);
        return 'accepted, then returned';
      },
    },
    {
      name: 'recalls.rejected',
      tried: 'the return of a settled transfer is requested, and not granted',
      expected: 'rejected, and the transfer stays settled',
      remedy: `${MODE} A rejected recall changes no money.`,
      async run(trial) {
        const transfer = await settled(trial, 'settled');
        const decision = await decisionOf(trial, transfer);
        if (decision !== 'rejected') throw problem(decision);
        await trial.quiet();
        const state = await trial.state(transfer.transferId);
        if (state?.state !== 'settled') throw problem(`now ${state?.state ?? 'not found'}`);
        return 'rejected, still settled';
      },
    },
    {
      name: 'recalls.final',
      tried: 'a decided recall is requested again, and compared with the messages',
      expected: 'the same decision',
      remedy: 'Store the decision with the transfer: the first one is final.',
      async run(trial) {
        const transfer = await settled(trial, 'settled');
        const decision = await decisionOf(trial, transfer);
        await trial.quiet();
        const { state } = await request(trial, transfer);
        const { transferId } = transfer;
        const messages = trial.messagesOf({ type: 'transfer.recall', transferId });
        const reported = messages.map(({ fields }) => (fields.recall as { state: string }).state);
        const other = [state, ...reported].find((each) => each !== decision);
        if (other !== undefined) throw problem(`${decision}, later ${other}`);
        return decision;
      },
    },
    {
      name: 'recalls.unknown',
      tried: 'the return of a transfer that was never sent',
      expected: 'status 404',
      remedy: 'Return 404 from /transfers/recall unless the transfer is stored.',
      async run(trial) {
        const { transferId, amount, currency } = trial.transfer('settled');
        const body = { transferId, amount, currency, cause: 'FRAUD' };
        const { status } = await trial.call('/transfers/recall', body);
        if (status !== 404) throw problem(`status ${status}`);
        return 'status 404';
      },
    },
  ],
};
