// Checks of transfers: a transfer is executed once, even if it is sent repeatedly or a connection
// closes early.
import type { CheckGroup } from '../check.ts';
import { referencesOf, type Session } from '../session.ts';
import type { Transfer } from '../transfers.ts';
import { failure } from '../verdict.ts';

const EXECUTED_ONCE = 'one execution: the same reference in every reply and message';
const STORE_REMEDY =
  'Store the transfer by transferId before executing it, and return the stored state to all later calls ' +
  'with this ID.';

/** Returns the reference of a transfer. Throws if several were reported. */
function singleReference(session: Session, { transferId }: Transfer): string {
  const references = referencesOf(session, transferId);
  if (references.length > 1) throw failure(`several references: ${references.join(', ')}`);
  return references[0] ?? 'no reference yet';
}

/**
 * Waits for the outcome and for messages of further executions. Throws if there are several
 * references.
 */
async function assertExecutedOnce(session: Session, transfer: Transfer): Promise<string> {
  await session.waitForState(transfer.transferId, 'settled');
  await session.waitQuietPeriod();
  return singleReference(session, transfer);
}

export const transferChecks: CheckGroup = {
  applies: ({ transfers = [] }) => transfers.length > 0,
  phase: 'parallel',
  checks: [
    {
      name: 'transfers.send',
      action: 'a transfer is sent, and its state is requested',
      expected: 'valid states with the same reference in both replies',
      remedy: 'Return a `TransferState` of the protocol from /transfers/send and /transfers/state.',
      async run(session) {
        const transfer = session.transfer('held');
        const { state } = await session.send(transfer);
        if (state === 'failed') {
          throw failure('failed, although TEST HELD must remain accepted until it is canceled');
        }
        if (!(await session.state(transfer.transferId))) {
          throw failure('status 404 for the state of the transfer');
        }
        return `${state}, ${singleReference(session, transfer)}`;
      },
    },
    {
      name: 'transfers.unknown',
      action: 'the state of a transfer that was never sent is requested',
      expected: 'status 404',
      remedy: 'Return 404 from /transfers/state unless the transfer is stored.',
      async run(session) {
        const state = await session.state(session.transfer('settled').transferId);
        if (state) throw failure(`status 200, ${state.state}`);
        return 'status 404';
      },
    },
    {
      name: 'transfers.repeat',
      action: 'the same transfer is sent three times',
      expected: EXECUTED_ONCE,
      remedy: STORE_REMEDY,
      async run(session) {
        const transfer = session.transfer('settled');
        for (let attempt = 0; attempt < 3; attempt++) await session.send(transfer);
        return assertExecutedOnce(session, transfer);
      },
    },
    {
      name: 'transfers.concurrent',
      action: 'the same transfer is sent five times concurrently',
      expected: EXECUTED_ONCE,
      remedy: `${STORE_REMEDY} Use a unique key or a lock for concurrent calls.`,
      async run(session) {
        const transfer = session.transfer('settled');
        await Promise.all(Array.from({ length: 5 }, () => session.send(transfer)));
        return assertExecutedOnce(session, transfer);
      },
    },
    {
      name: 'transfers.disconnect',
      action:
        'the connection closes during the call or before its response, and the call is repeated',
      expected: EXECUTED_ONCE,
      remedy: `${STORE_REMEDY} A call whose connection closed may have been executed.`,
      async run(session) {
        const transfer = session.transfer('settled');
        const { calls } = session.context;
        await calls.abort('/transfers/send', transfer, 'during');
        // A loaded adapter reads the request later.
        for (const waitMs of [20, 100, 250])
          await calls.abort('/transfers/send', transfer, 'after', waitMs);
        await session.send(transfer);
        return assertExecutedOnce(session, transfer);
      },
    },
    {
      name: 'transfers.unknown-fields',
      action: 'a transfer has a field that the protocol does not define',
      expected: 'the field is ignored',
      remedy: 'Ignore unknown fields, because later versions of Railhead can add optional fields.',
      async run(session) {
        const { state } = await session.send(session.transfer('held'), { newField: { value: 1 } });
        if (state === 'failed') throw failure('failed');
        return state;
      },
    },
    {
      name: 'transfers.malformed',
      action: 'the body of a signed call is not JSON',
      expected: 'a status from 400 to 499',
      remedy: 'Respond with 400 to a body that is not valid JSON.',
      async run(session) {
        const { status } = await session.call('/transfers/send', '{"transferId":');
        if (status < 400 || status > 499) throw failure(`status ${status}`);
        return `status ${status}`;
      },
    },
  ],
};
