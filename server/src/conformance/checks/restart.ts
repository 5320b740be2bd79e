// Checks of a crash: the adapter is ended without notice and started again. They need its command.
import type { CheckGroup } from '../check.ts';
import { referencesOf, type Trial } from '../trial.ts';
import { problem } from '../verdict.ts';

const DURABLE =
  'Store transfers and messages durably before the call is answered or the bank is called, and read ' +
  'them at the start.';

/** Time between a call and the end of the adapter in the middle of it. */
const IN_THE_MIDDLE_MS = 15;

async function restart({ parts }: Trial): Promise<void> {
  await parts.kill?.();
  await parts.start?.();
}

export const restartChecks: CheckGroup = {
  applies: ({ transfers = [] }, { parts }) =>
    transfers.length > 0 && parts.kill !== undefined && parts.start !== undefined,
  when: 'alone',
  checks: [
    {
      name: 'restart.transfers',
      tried: 'the adapter is killed after it has accepted a transfer, and started again',
      expected: 'the transfer is known, with the same reference',
      remedy: DURABLE,
      async run(trial) {
        const { transferId, ...transfer } = trial.transfer('held');
        await trial.send({ transferId, ...transfer });
        await restart(trial);
        const state = await trial.state(transferId);
        if (!state) throw problem('status 404: the transfer is forgotten');
        const references = referencesOf(trial, transferId);
        if (references.length > 1) throw problem(`several references: ${references.join(', ')}`);
        return state.state;
      },
    },
    {
      name: 'restart.in-send',
      tried: 'the adapter is killed in the middle of a call, and the call is repeated',
      expected: 'one execution: the same reference in every reply and message',
      remedy: `${DURABLE} After a crash, ask the bank about a payment before it is sent again.`,
      async run(trial) {
        const { calls } = trial.parts;
        const transfer = trial.transfer('settled');
        const inTheMiddle = calls.call('/transfers/send', transfer).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, IN_THE_MIDDLE_MS));
        await restart(trial);
        await inTheMiddle;
        await trial.send(transfer);
        await trial.reaches(transfer.transferId, 'settled');
        await trial.quiet();
        const references = referencesOf(trial, transfer.transferId);
        if (references.length > 1) throw problem(`several references: ${references.join(', ')}`);
        return references[0] ?? 'no reference';
      },
    },
    {
      name: 'restart.messages',
      tried: 'the adapter is killed while Railhead does not accept a message',
      expected: 'the message is sent again with the same ID',
      remedy: DURABLE,
      async run(trial) {
        const { inbox } = trial.parts;
        const transfer = trial.transfer('settled');
        const { transferId } = transfer;
        inbox.plan(transferId, 'settled', [503]);
        await trial.send(transfer);
        await trial.receives(transferId, 'settled');
        await trial.parts.kill?.();
        const before = trial.attemptsOf(transferId, 'settled').length;
        inbox.plan(transferId, 'settled', [200]);
        await trial.parts.start?.();
        const attempts = await trial.receives(transferId, 'settled', before + 1);
        const ids = new Set(attempts.map(({ fields }) => fields.id));
        if (ids.size > 1) throw problem('another ID than before');
        return 'the same ID';
      },
    },
  ],
};
