// Checks of mints and burns: an order is executed once, and its result is final.
import {
  StablecoinAccounts,
  StablecoinLink,
  StablecoinOrderReply,
  StablecoinPreview,
  StablecoinToken,
} from '../../connectors/ports/providers/stablecoins.ts';
import { iso } from '../../kernel/effects.ts';
import { uuid7 } from '../../kernel/id.ts';
import type { CheckGroup } from '../check.ts';
import type { Trial } from '../trial.ts';
import { problem } from '../verdict.ts';

const MODE =
  'In its test mode the adapter accepts the client "TEST" with the secret "TEST" and the token ' +
  '"TEST", and reads the result of an order from its description: "TEST COMPLETED", "TEST FAILED" ' +
  'or "TEST HELD".';

const credentials = { clientId: 'TEST', clientSecret: 'TEST' };
const token = {
  ...{ providerTokenIdentifier: 'TEST', networkTokenIdentifier: 'TEST', network: 'SPARK' },
};

async function accountOf(trial: Trial) {
  const { accounts } = await trial.read('/stablecoins/accounts', credentials, StablecoinAccounts);
  const [providerAccountId] = accounts;
  if (providerAccountId === undefined) throw problem('no account for the client "TEST"');
  return { credentials, providerAccountId };
}

/** A mint that has this result. */
async function newOrder(trial: Trial, result: 'COMPLETED' | 'FAILED' | 'HELD') {
  const account = await accountOf(trial);
  const found = await trial.read('/stablecoins/token', { account, token }, StablecoinToken);
  if (found.result !== 'found') throw problem(`the token is ${found.result}`);
  const [id, accountId] = [uuid7(trial.parts.effects), `ExternalAccount:${result}`];
  const details = { accountType: 'SPARK_WALLET', address: 'spark1test' };
  const wallet = { account, externalAccountId: accountId, details, rail: 'SPARK' };
  const link = await trial.read('/stablecoins/link', wallet, StablecoinLink);
  if (link.result !== 'linked') throw problem(`the wallet is ${link.result}`);
  return {
    ...{ orderId: `StablecoinOperation:${id}`, type: 'MINT', account, token },
    ...{ decimals: found.decimals, baseCurrency: found.baseCurrency },
    amount: `10${'0'.repeat(found.decimals)}`,
    ...{ source: 'WIRE', rail: 'SPARK', description: `TEST ${result}` },
    to: { accountId, rail: 'SPARK', reference: link.reference },
    orderedAt: iso(trial.parts.effects.now()),
  };
}

type Order = Awaited<ReturnType<typeof newOrder>>;

const submit = (trial: Trial, order: Order) =>
  trial.read('/stablecoins/submit', order, StablecoinOrderReply);

const FINAL: readonly string[] = ['completed', 'failed'];

/** The final state. */
async function resultOf(trial: Trial, order: Order) {
  const result = await trial.until(async () => {
    const reply = await trial.read('/stablecoins/state', order, StablecoinOrderReply);
    return FINAL.includes(reply.state) ? reply : undefined;
  });
  if (!result) throw problem('no result');
  return result;
}

/** The states that messages report. */
const reportedOf = (trial: Trial, { orderId }: Order) =>
  trial
    .messagesOf({ type: 'stablecoin.order', orderId })
    .map(({ fields }) => (fields.order as { state: string }).state);

async function finalResult(trial: Trial, result: 'COMPLETED' | 'FAILED'): Promise<string> {
  const order = await newOrder(trial, result);
  await submit(trial, order);
  const expected = result.toLowerCase();
  const { state } = await resultOf(trial, order);
  if (state !== expected) throw problem(state);
  const again = (await submit(trial, order)).state;
  if (again !== state) throw problem(`${state}, but ${again} when it is sent again`);
  await trial.quiet();
  const other = reportedOf(trial, order).find((each) => FINAL.includes(each) && each !== state);
  if (other !== undefined) throw problem(`${state}, but a message reports ${other}`);
  return state;
}

export const stablecoinChecks: CheckGroup = {
  applies: ({ services = [] }) => services.includes('stablecoins'),
  when: 'together',
  checks: [
    {
      name: 'stablecoins.prepare',
      tried: 'an order is validated, and its state requested',
      expected: 'accepted, and status 404: nothing was ordered',
      remedy: `/stablecoins/prepare must have no effect. ${MODE}`,
      async run(trial) {
        const order = await newOrder(trial, 'COMPLETED');
        const { result } = await trial.read('/stablecoins/prepare', order, StablecoinPreview);
        if (result !== 'accepted') throw problem(result);
        const { status } = await trial.call('/stablecoins/state', order);
        if (status !== 404) throw problem(`status ${status}: it was ordered`);
        return 'accepted, status 404';
      },
    },
    {
      name: 'stablecoins.once',
      tried: 'an order is sent three times, twice at once, and completes',
      expected: 'one completion: a single message with the amount of the order',
      remedy: 'Store the order by orderId before it is executed, and return the stored state.',
      async run(trial) {
        const order = await newOrder(trial, 'COMPLETED');
        await Promise.all([submit(trial, order), submit(trial, order)]);
        await submit(trial, order);
        await resultOf(trial, order);
        await trial.quiet();
        const completions = reportedOf(trial, order).filter((each) => each === 'completed');
        if (completions.length > 1) throw problem(`completed ${completions.length} times`);
        return `${completions.length} message`;
      },
    },
    {
      name: 'stablecoins.amount',
      tried: 'the amount of a completed order, in the reply and in messages',
      expected: 'that of the order, in minor units of the token',
      remedy: 'Report the executed amount as text in minor units of the token.',
      async run(trial) {
        const order = await newOrder(trial, 'COMPLETED');
        await submit(trial, order);
        const reply = await resultOf(trial, order);
        await trial.quiet();
        const messages = trial.messagesOf({ type: 'stablecoin.order', orderId: order.orderId });
        const states = [reply, ...messages.map(({ fields }) => fields.order)] as Json[];
        const other = states.find(({ amount = order.amount }) => amount !== order.amount);
        if (other) throw problem(`${other.amount} instead of ${order.amount}`);
        return order.amount;
      },
    },
    ...(['COMPLETED', 'FAILED'] as const).map((result) => ({
      name: `stablecoins.${result.toLowerCase()}`,
      tried: `an order that is ${result.toLowerCase()}, sent again after its result`,
      expected: `${result.toLowerCase()}, each time`,
      remedy: `${MODE} Store the result, and report nothing that contradicts it.`,
      run: (trial: Trial) => finalResult(trial, result),
    })),
    {
      name: 'stablecoins.credentials',
      tried: 'credentials that the provider did not issue',
      expected: 'no accounts',
      remedy: 'Return an empty list of accounts for wrong credentials.',
      async run(trial) {
        const wrong = { clientId: 'TEST', clientSecret: 'WRONG' };
        const reply = await trial.read('/stablecoins/accounts', wrong, StablecoinAccounts);
        if (reply.accounts.length > 0) throw problem(reply.accounts.join(', '));
        return 'no accounts';
      },
    },
  ],
};

interface Json {
  amount?: unknown;
}
