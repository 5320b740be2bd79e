// Checks of sending: a transfer is executed once, however often and however badly it is sent.
import type { CheckGroup } from '../check.ts';
import type { Transfer } from '../transfers.ts';
import { referencesOf, type Trial } from '../trial.ts';
import { problem } from '../verdict.ts';

const ONCE = 'one execution: the same reference in every reply and message';
const STORE =
  'Store the transfer by transferId before it is executed, and return the stored state to every ' +
  'later call with this ID.';

/** Throws if a transfer was reported with several references. */
function oneReference(trial: Trial, { transferId }: Transfer): string {
  const references = referencesOf(trial, transferId);
  if (references.length > 1) throw problem(`several references: ${references.join(', ')}`);
  return references[0] ?? 'no reference yet';
}

/** Waits for the result, when an execution too many would have been reported. */
async function executedOnce(trial: Trial, transfer: Transfer): Promise<string> {
  await trial.reaches(transfer.transferId, 'settled');
  await trial.quiet();
  return oneReference(trial, transfer);
}

export const transferChecks: CheckGroup = {
  applies: ({ transfers = [] }) => transfers.length > 0,
  when: 'together',
  checks: [
    {
      name: 'transfers.send',
      tried: 'a transfer is sent, and its state requested',
      expected: 'a state, and the same reference in both replies',
      remedy: 'Return a state of the protocol from /transfers/send and from /transfers/state.',
      async run(trial) {
        const transfer = trial.transfer('held');
        const { state } = await trial.send(transfer);
        if (state === 'failed') throw problem('failed; TEST HELD is accepted until it is canceled');
        if (!(await trial.state(transfer.transferId))) throw problem('the state is not found');
        return `${state}, ${oneReference(trial, transfer)}`;
      },
    },
    {
      name: 'transfers.unknown',
      tried: 'the state of a transfer that was never sent',
      expected: 'status 404',
      remedy: 'Return 404 from /transfers/state unless the transfer is stored.',
      async run(trial) {
        const state = await trial.state(trial.transfer('settled').transferId);
        if (state) throw problem(`status 200, ${state.state}`);
        return 'status 404';
      },
    },
    {
      name: 'transfers.repeat',
      tried: 'the same transfer is sent three times',
      expected: ONCE,
      remedy: STORE,
      async run(trial) {
        const transfer = trial.transfer('settled');
        for (let attempt = 0; attempt < 3; attempt++) await trial.send(transfer);
        return executedOnce(trial, transfer);
      },
    },
    {
      name: 'transfers.concurrent',
      tried: 'the same transfer is sent five times at once',
      expected: ONCE,
      remedy: `${STORE} A unique key or a lock must decide between simultaneous calls.`,
      async run(trial) {
        const transfer = trial.transfer('settled');
        await Promise.all(Array.from({ length: 5 }, () => trial.send(transfer)));
        return executedOnce(trial, transfer);
      },
    },
    {
      name: 'transfers.hang-up',
      tried: 'the connection ends in the middle of the call and before its response; then again',
      expected: ONCE,
      remedy: `${STORE} A call whose connection ends can have had its effect.`,
      async run(trial) {
        const transfer = trial.transfer('settled');
        const { calls } = trial.parts;
        await calls.hangUp('/transfers/send', transfer, 'during');
        await calls.hangUp('/transfers/send', transfer, 'after');
        await calls.hangUp('/transfers/send', transfer, 'after');
        await trial.send(transfer);
        return executedOnce(trial, transfer);
      },
    },
    {
      name: 'transfers.unknown-fields',
      tried: 'a transfer with a field that the protocol does not have',
      expected: 'the field is ignored',
      remedy: 'Ignore unknown fields: later versions of Railhead can add optional ones.',
      async run(trial) {
        const { state } = await trial.send(trial.transfer('held'), { newField: { value: 1 } });
        if (state === 'failed') throw problem('failed');
        return state;
      },
    },
    {
      name: 'transfers.malformed',
      tried: 'a signed call whose body is not JSON',
      expected: 'a status from 400 to 499',
      remedy: 'Respond with 400 to a body that cannot be read.',
      async run(trial) {
        const { status } = await trial.call('/transfers/send', '{"transferId":');
        if (status < 400 || status > 499) throw problem(`status ${status}`);
        return `status ${status}`;
      },
    },
  ],
};
