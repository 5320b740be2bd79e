// Checks of recalls: the decision is final, and only a granted recall is followed by a return.
import { RecallState } from '../../connectors/ports/providers/recalls.ts';
import type { CheckGroup } from '../check.ts';
import type { Session } from '../session.ts';
import type { Transfer } from '../transfers.ts';
import { failure } from '../verdict.ts';

const TEST_MODE =
  'In its test mode the adapter grants the recall of a transfer with the text "TEST RECALLED", and ' +
  'rejects the recall of other transfers.';

const request = (session: Session, { transferId, amount, currency }: Transfer) =>
  session.read(
    '/transfers/recall',
    { transferId, amount, currency, cause: 'CUSTOMER_REQUEST' },
    RecallState,
  );

async function settleTransfer(
  session: Session,
  outcome: 'settled' | 'recalled',
): Promise<Transfer> {
  const transfer = session.transfer(outcome);
  await session.send(transfer);
  await session.waitForState(transfer.transferId, 'settled');
  return transfer;
}

/** Repeats the request until the recall is decided. Throws without a decision. */
async function decisionOf(session: Session, transfer: Transfer): Promise<string> {
  const decision = await session.poll(async () => {
    const { state } = await request(session, transfer);
    return state === 'requested' ? undefined : state;
  });
  if (decision === undefined) throw failure('no decision');
  return decision;
}

export const recallChecks: CheckGroup = {
  applies: ({ transfers = [], recall }) => transfers.length > 0 && recall === true,
  phase: 'parallel',
  checks: [
    {
      name: 'recalls.granted',
      action: 'the return of a settled transfer is requested twice and granted',
      expected: 'accepted, then the transfer is returned once',
      remedy: `${TEST_MODE} Report the transfer as returned when the funds have been returned.`,
      async run(session) {
        const transfer = await settleTransfer(session, 'recalled');
        await Promise.all([request(session, transfer), request(session, transfer)]);
        const decision = await decisionOf(session, transfer);
        if (decision !== 'accepted') throw failure(decision);
        await session.waitForState(transfer.transferId, 'returned');
        await session.waitQuietPeriod();
        const messages = session.messagesOf({
          type: 'transfer.updated',
          transferId: transfer.transferId,
        });
        const count = messages.filter(({ body }) => body.includes('"returned"')).length;
        if (count > 1) throw failure(`returned ${count} times`);
        return 'accepted, then returned';
      },
    },
    {
      name: 'recalls.rejected',
      action: 'the return of a settled transfer is requested and rejected',
      expected: 'rejected, and the transfer remains settled',
      remedy: `${TEST_MODE} A rejected recall has no effect on the transfer.`,
      async run(session) {
        const transfer = await settleTransfer(session, 'settled');
        const decision = await decisionOf(session, transfer);
        if (decision !== 'rejected') throw failure(decision);
        await session.waitQuietPeriod();
        const state = await session.state(transfer.transferId);
        if (state?.state !== 'settled') throw failure(`now ${state?.state ?? 'not found'}`);
        return 'rejected, still settled';
      },
    },
    {
      name: 'recalls.final',
      action: 'a decided recall is requested again, and compared with the messages',
      expected: 'the same decision',
      remedy: 'Store the decision with the transfer. The first decision is final.',
      async run(session) {
        const transfer = await settleTransfer(session, 'settled');
        const decision = await decisionOf(session, transfer);
        await session.waitQuietPeriod();
        const { state } = await request(session, transfer);
        const { transferId } = transfer;
        const messages = session.messagesOf({ type: 'transfer.recall', transferId });
        const reportedStates = messages.map(
          ({ fields }) => (fields.recall as { state: string }).state,
        );
        const otherState = [state, ...reportedStates].find((each) => each !== decision);
        if (otherState !== undefined) throw failure(`${decision}, later ${otherState}`);
        return decision;
      },
    },
    {
      name: 'recalls.unknown',
      action: 'the return of a transfer that was never sent is requested',
      expected: 'status 404',
      remedy: 'Return 404 from /transfers/recall unless the transfer is stored.',
      async run(session) {
        const { transferId, amount, currency } = session.transfer('settled');
        const body = { transferId, amount, currency, cause: 'FRAUD' };
        const { status } = await session.call('/transfers/recall', body);
        if (status !== 404) throw failure(`status ${status}`);
        return 'status 404';
      },
    },
  ],
};
