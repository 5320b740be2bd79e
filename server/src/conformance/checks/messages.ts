// Checks of messages: each is signed, valid and true, and repeated with the same ID until Railhead has
// processed it.
import type { Check, CheckGroup } from '../check.ts';
import { type Attempt, stateOf } from '../inbox.ts';
import type { Transfer } from '../transfers.ts';
import type { Trial } from '../trial.ts';
import { problem, skipped } from '../verdict.ts';

/** Responses after which the adapter sends the message again; 0 closes the connection. */
const TEMPORARY = [0, 503, 429];

const AGAIN =
  'Store each message with its ID before it is sent, and send it again until the status is 200, 400 ' +
  'or 409. In its test mode the adapter waits at most one second between attempts.';

const repetitions = new WeakMap<Trial, Promise<Attempt[]>>();

/** Attempts of one message whose first responses are temporary errors. */
function repeatedAttempts(trial: Trial): Promise<Attempt[]> {
  const known = repetitions.get(trial);
  if (known) return known;
  const attempts = (async () => {
    const { transferId, ...transfer } = trial.transfer('settled');
    trial.parts.inbox.plan(transferId, 'settled', [...TEMPORARY, 200]);
    await trial.send({ transferId, ...transfer });
    return trial.receives(transferId, 'settled', TEMPORARY.length + 1);
  })();
  repetitions.set(trial, attempts);
  return attempts;
}

/** Throws if a message is sent again after this response. */
async function notAgain(trial: Trial, status: number): Promise<void> {
  const { transferId, ...transfer } = trial.transfer('settled');
  trial.parts.inbox.plan(transferId, 'settled', [status]);
  await trial.send({ transferId, ...transfer });
  const before = (await trial.receives(transferId, 'settled')).length;
  await trial.quiet();
  const again = trial.attemptsOf(transferId, 'settled').length - before;
  if (again > 0)
    throw problem(`sent ${again + 1} times, the first response had the status ${status}`);
}

export const messageChecks: CheckGroup = {
  applies: ({ transfers = [] }) => transfers.length > 0,
  when: 'together',
  checks: [
    {
      name: 'messages.received',
      tried: 'a transfer settles',
      expected: 'a message "transfer.updated" with the state "settled"',
      remedy: 'Start the adapter with the address of the inbox that this report shows.',
      async run(trial) {
        const transfer = trial.transfer('settled');
        const start = trial.parts.effects.now();
        await trial.send(transfer);
        const [first] = await trial.receives(transfer.transferId, 'settled');
        return `after ${Math.max(0, (first?.at ?? start) - start)} ms`;
      },
    },
    {
      name: 'messages.repeated',
      tried: 'no response, then the statuses 503 and 429, then 200',
      expected: 'four attempts of the message',
      remedy: AGAIN,
      async run(trial) {
        const attempts = await repeatedAttempts(trial);
        return `${attempts.length} attempts`;
      },
    },
    {
      name: 'messages.same-id',
      tried: 'the attempts of one message are compared',
      expected: 'the same ID and the same body',
      remedy: `${AGAIN} Sign it anew, but never change it.`,
      async run(trial) {
        const attempts = await repeatedAttempts(trial).catch(() => {
          throw skipped('no message was repeated');
        });
        const ids = new Set(attempts.map(({ fields }) => fields.id));
        if (ids.size > 1) throw problem(`${ids.size} IDs for one message`);
        if (new Set(attempts.map(({ body }) => body)).size > 1) throw problem('different bodies');
        return `ID ${[...ids].join('')}`;
      },
    },
    {
      name: 'messages.final-answers',
      tried: 'responses with the statuses 200, 400 and 409',
      expected: 'the message is not sent again',
      remedy:
        'Stop after 200, 400 and 409. An operator decides about a message with 409; one with 400 must ' +
        'be corrected.',
      async run(trial) {
        await Promise.all([200, 400, 409].map((status) => notAgain(trial, status)));
        return 'one attempt each';
      },
    },
  ],
};

/** Compares a message with the transfer that it is about. */
function differenceOf({ fields }: Attempt, transfer: Transfer | undefined): string | undefined {
  if (!transfer) return undefined;
  const { amount = transfer.amount, currency = transfer.currency } = fields;
  if (amount === transfer.amount && currency === transfer.currency) return undefined;
  return `${amount} ${currency} instead of ${transfer.amount} ${transfer.currency}`;
}

const ofTransfer = ({ fields }: Attempt) => fields.type === 'transfer.updated';

function oneBodyForEachId(attempts: readonly Attempt[]): void {
  const bodies = new Map<unknown, string>();
  for (const { fields, body } of attempts) {
    const earlier = bodies.get(fields.id);
    if (earlier !== undefined && earlier !== body) {
      throw problem(`the ID ${fields.id} belongs to different messages`);
    }
    bodies.set(fields.id, body);
  }
}

/** A check of every attempt that was received. */
const ofAll = (
  description: Omit<Check, 'run'>,
  seen: string,
  check: (attempts: readonly Attempt[], trial: Trial) => void,
): Check => ({
  ...description,
  run(trial) {
    const { attempts } = trial.parts.inbox;
    if (attempts.length === 0) throw skipped('no message was received');
    check(attempts, trial);
    return `${attempts.length} attempts, ${seen}`;
  },
});

export const receivedChecks: CheckGroup = {
  applies: ({ transfers = [] }) => transfers.length > 0,
  when: 'last',
  checks: [
    ofAll(
      {
        name: 'messages.signed',
        tried: 'the signature of every attempt',
        expected: 'digest, key and time are right',
        remedy: 'Sign every attempt at the time when it is sent, for the address of the inbox.',
      },
      'all signed',
      (attempts) => {
        const wrong = attempts.find((each) => each.signatureProblem !== undefined);
        if (wrong) throw problem(wrong.signatureProblem ?? '');
      },
    ),
    ofAll(
      {
        name: 'messages.valid',
        tried: 'the body of every attempt is compared with its schema',
        expected: 'every field is valid; amounts are integers',
        remedy: 'Correct the named field: docs/providers/openapi.json has the schema `Message`.',
      },
      'all valid',
      (attempts) => {
        const [error] = attempts.flatMap(({ errors }) => errors);
        if (error) throw problem(`${error.field || 'the body'} ${error.message}`);
      },
    ),
    ofAll(
      {
        name: 'messages.amounts',
        tried: 'amount and currency of every message are compared with the transfer',
        expected: 'those of the transfer, in minor units',
        remedy: 'Report the amount that was executed, in the minor units of the transfer.',
      },
      'as sent',
      (attempts, trial) => {
        for (const attempt of attempts.filter(ofTransfer)) {
          const transfer = trial.transfers.get(String(attempt.fields.transferId));
          const difference = differenceOf(attempt, transfer);
          if (difference) throw problem(difference);
        }
      },
    ),
    ofAll(
      {
        name: 'messages.known',
        tried: 'the transfer of every message',
        expected: 'one that was sent',
        remedy: 'Report `transferId` as Railhead sent it. Rejected calls are never executed.',
      },
      'all known',
      (attempts, trial) => {
        const wrong = attempts
          .filter(ofTransfer)
          .find(({ fields }) => !trial.transfers.has(String(fields.transferId)));
        if (wrong) throw problem(`${wrong.fields.transferId}, ${stateOf(wrong)}`);
      },
    ),
    ofAll(
      {
        name: 'messages.unique-ids',
        tried: 'the IDs of all messages are compared',
        expected: 'different messages have different IDs',
        remedy:
          'Generate an ID for each message, for example with the ID of the event of the bank.',
      },
      'IDs unique',
      oneBodyForEachId,
    ),
  ],
};
