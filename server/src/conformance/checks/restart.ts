// Checks of crashes: the adapter is killed and restarted. These checks require the command that
// starts the adapter.
import type { CheckGroup } from '../check.ts';
import { referencesOf, type Session } from '../session.ts';
import { failure } from '../verdict.ts';

const DURABLE_REMEDY =
  'Store transfers and messages durably before the response is sent or the bank is called, and read ' +
  'them at the start.';

/** Time between the start of a call and the kill of the adapter. */
const KILL_AFTER_MS = 15;

async function restart({ context }: Session): Promise<void> {
  await context.kill?.();
  await context.start?.();
}

export const restartChecks: CheckGroup = {
  applies: ({ transfers = [] }, { context }) =>
    transfers.length > 0 && context.kill !== undefined && context.start !== undefined,
  phase: 'sequential',
  checks: [
    {
      name: 'restart.transfers',
      action: 'the adapter is killed after it has accepted a transfer, and restarted',
      expected: 'the transfer exists with the same reference',
      remedy: DURABLE_REMEDY,
      async run(session) {
        const { transferId, ...transfer } = session.transfer('held');
        await session.send({ transferId, ...transfer });
        await restart(session);
        const state = await session.state(transferId);
        if (!state) throw failure('status 404, although the transfer was accepted');
        const references = referencesOf(session, transferId);
        if (references.length > 1) throw failure(`several references: ${references.join(', ')}`);
        return state.state;
      },
    },
    {
      name: 'restart.during-send',
      action: 'the adapter is killed during a call and restarted, and the call is repeated',
      expected: 'one execution: the same reference in every reply and message',
      remedy:
        `${DURABLE_REMEDY} After a crash, request the state of a payment from the bank before sending ` +
        'it again.',
      async run(session) {
        const { calls } = session.context;
        const transfer = session.transfer('settled');
        const interruptedCall = calls.call('/transfers/send', transfer).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, KILL_AFTER_MS));
        await restart(session);
        await interruptedCall;
        await session.send(transfer);
        await session.waitForState(transfer.transferId, 'settled');
        await session.waitQuietPeriod();
        const references = referencesOf(session, transfer.transferId);
        if (references.length > 1) throw failure(`several references: ${references.join(', ')}`);
        return references[0] ?? 'no reference';
      },
    },
    {
      name: 'restart.messages',
      action: 'the adapter is killed while the responses to messages are 503, and restarted',
      expected: 'the message is repeated with the same ID',
      remedy: DURABLE_REMEDY,
      async run(session) {
        const { inbox } = session.context;
        const transfer = session.transfer('settled');
        const { transferId } = transfer;
        inbox.setResponses(transferId, 'settled', [503]);
        await session.send(transfer);
        await session.waitForAttempts(transferId, 'settled');
        await session.context.kill?.();
        const attemptCount = session.attemptsOf(transferId, 'settled').length;
        inbox.setResponses(transferId, 'settled', [200]);
        await session.context.start?.();
        const attempts = await session.waitForAttempts(transferId, 'settled', attemptCount + 1);
        const ids = new Set(attempts.map(({ fields }) => fields.id));
        if (ids.size > 1) throw failure('the ID of the message changed');
        return 'the same ID';
      },
    },
  ],
};
