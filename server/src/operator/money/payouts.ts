// `payouts …`: the work of an operator who carries payments by hand. The list says what to pay out, to
// pull or to give back, and with which coordinates; the other verbs say what became of it. What is said
// twice is refused, so a slip of the hand pays nobody twice.
import { ACCOUNT_TYPE_ROWS, isAccountType } from '../../catalog/accounts/account-types.ts';
import { findCurrency } from '../../catalog/currencies/currencies.ts';
import type { FailureReason, Progress, RailInstruction } from '../../connectors/ports/index.ts';
import { externalAccounts } from '../../features/payees/external-accounts/index.ts';
import {
  isWanted,
  paymentReference,
  payoutOf,
  pullOf,
  refundOf,
  refuseCancel,
  type TransactionRow,
  transactions,
  type WaitKind,
  type WaitRow,
} from '../../features/payments/lifecycle/index.ts';
import { isHeld, isPull } from '../../features/payments/pay-ins/index.ts';
import { readable } from '../../kernel/money.ts';
import { iso } from '../../kernel/world.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';
import type { Flags, Given } from '../cli/flags.ts';
import { awaitedOf, onAnyTransaction, onTransaction, refused, takeNotice } from '../cli/notice.ts';
import { inline, LIMIT, limitIn } from '../cli/queue.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformOf } from '../platforms/platform.ts';

const REASONS: readonly FailureReason[] = [
  'ACCOUNT_INVALID',
  'ACCOUNT_CANNOT_RECEIVE',
  'COMPLIANCE_REJECTED',
  'LIMIT_EXCEEDED',
  'PAYOUT_RETURNED',
  'QUOTE_EXECUTION_FAILED',
  'COUNTERPARTY_POST_TX_FAILED',
];

const ID: Flags = {
  transaction: { value: 'TRANSACTION', required: true, help: 'Id of the transaction' },
};
const REASON: Flags = {
  reason: { value: 'REASON', required: true, choices: REASONS, help: 'Why' },
};
const OF: Flags = {
  of: {
    value: 'MOVEMENT',
    choices: ['payout', 'pull'],
    help: 'Which came back, of a payment that has both (payout)',
  },
};

const INSTRUCTION = { payout: payoutOf, pull: pullOf, refund: refundOf } as const;

/** The UMA address at the other end of a movement; undefined where an account is. */
function umaAddressOf(row: TransactionRow, kind: WaitKind): string | undefined {
  if (kind === 'payout' && row.carrier) return row.destination_account as string;
  const comes = kind === 'pull' && row.source.sourceType === 'UMA_ADDRESS';
  return comes ? (row.source_account as string) : undefined;
}

async function instructionOf(
  runtime: Runtime,
  row: TransactionRow,
  kind: WaitKind,
): Promise<RailInstruction> {
  const umaAddress = umaAddressOf(row, kind);
  if (umaAddress === undefined) return INSTRUCTION[kind](runtime, row);
  return {
    id: row.id,
    platformId: row.platform_id,
    kind,
    origin: 'quote',
    rail: null,
    currency: row.received_currency as string,
    amount: row.received_amount as bigint,
    account: { accountType: 'UMA_ADDRESS', umaAddress },
    sentAt: row.sent_at ?? row.updated_at,
  };
}

function view(wait: WaitRow, row: TransactionRow, its: RailInstruction) {
  const { beneficiary: _, accountType, ...account } = its.account;
  return {
    transactionId: row.id,
    platformId: row.platform_id,
    kind: wait.kind,
    since: iso(wait.since),
    amount: Number(its.amount),
    currency: its.currency,
    readable: readable(its.amount, findCurrency(its.currency)?.decimals ?? 0),
    rail: its.rail,
    reference: paymentReference(row.id),
    beneficiary: its.beneficiaryName ?? null,
    accountType,
    account,
    remittanceInformation: its.remittanceInformation ?? null,
    purposeOfPayment: its.purposeOfPayment ?? null,
    cancelRequestedAt: row.cancel_requested_at === null ? null : iso(row.cancel_requested_at),
  };
}

async function viewOf(runtime: Runtime, wait: WaitRow) {
  const row = await runtime.db.read(transactions, wait.id);
  if (!row || !isWanted(row, wait.kind)) return [];
  return [view(wait, row, await instructionOf(runtime, row, wait.kind))];
}

const WAITS = `select id, kind, since from rail_waits
  where ($1::text is null or platform_id = $1) and (since, id) > ($2::timestamptz, $3)
  order by since, id limit $4`;

/** The oldest that are still wanted. Rows that outlived their payments are passed, however many. */
async function wantedIn({ runtime }: System, platform: string | null, limit: number) {
  const found: ReturnType<typeof view>[] = [];
  let after: Pick<WaitRow, 'id' | 'since'> = { id: '', since: 0 };
  for (;;) {
    const place = [new Date(after.since), after.id];
    const waits = await runtime.db.query<WaitRow>(WAITS, [platform, ...place, limit]);
    found.push(...(await Promise.all(waits.map((each) => viewOf(runtime, each)))).flat());
    const last = waits.at(-1);
    if (!last || waits.length < limit || found.length >= limit) return found.slice(0, limit);
    after = last;
  }
}

const HEADS = [
  ...['SINCE', 'TRANSACTION', 'KIND', 'AMOUNT', 'CURRENCY', 'RAIL', 'BENEFICIARY', 'ACCOUNT'],
  ...['REFERENCE', 'CALLED BACK'],
];

async function list(system: System, given: Given): Promise<Output> {
  const limit = limitIn(given);
  const id = given.text('platform');
  const platform = id === undefined ? null : (await platformOf(system, id)).id;
  const json = await wantedIn(system, platform, limit);
  const text = table(
    HEADS.map((head) => ({ head, align: head === 'AMOUNT' ? 'right' : 'left' })),
    json.map((each) => [
      each.since,
      each.transactionId,
      each.kind,
      each.readable,
      each.currency,
      each.rail ?? '-',
      each.beneficiary ?? '-',
      inline({ accountType: each.accountType, ...each.account }),
      each.reference,
      each.cancelRequestedAt ?? '',
    ]),
  );
  return { json, text };
}

async function shown({ runtime }: System, id: string): Promise<Output> {
  const row = (await runtime.db.read(transactions, id)) as TransactionRow;
  const json = {
    transactionId: row.id,
    status: row.status,
    failureReason: row.failure_reason,
    refund: row.refund?.status ?? null,
  };
  const refund = json.refund ? `, refund ${json.refund}` : '';
  return { json, text: `${row.id} is ${row.status}${refund}.\n` };
}

/** Says what became of the movement that is awaited. */
async function tellOf(
  system: System,
  given: Given,
  progressOf: (ctx: Ctx, row: TransactionRow) => Promise<Progress>,
): Promise<Output> {
  const id = given.needed('transaction');
  await onTransaction(system, id, async (ctx, row) => {
    const kind = await awaitedOf(ctx, row);
    await takeNotice(ctx, row, kind, await progressOf(ctx, row));
  });
  return shown(system, id);
}

/** The chain that the receiving account is on. */
async function networkOf(ctx: Ctx, row: TransactionRow): Promise<string> {
  const id = row.destination_account;
  const account = id === null ? undefined : await ctx.read(externalAccounts, id);
  const type = account?.info.accountType ?? '';
  const network = isAccountType(type) ? ACCOUNT_TYPE_ROWS[type].network : undefined;
  if (!network) throw refused('--hash is for payments over a chain.');
  return network;
}

const settle = (system: System, given: Given): Promise<Output> =>
  tellOf(system, given, async (ctx, row) => {
    const transactionHash = given.text('hash');
    const reference = given.text('reference') ?? transactionHash ?? paymentReference(row.id);
    if (transactionHash === undefined) return { state: 'settled', reference };
    const onChain = { transactionHash, network: await networkOf(ctx, row) };
    return { state: 'settled', reference, onChain };
  });

const fail = (system: System, given: Given): Promise<Output> =>
  tellOf(system, given, async () => ({
    state: 'failed',
    reason: given.needed('reason') as FailureReason,
    refundable: given.on('refundable') ?? true,
  }));

type Carried = 'payout' | 'pull';

const isOutside = (id: string | null) => id?.startsWith('ExternalAccount:') ?? false;

/** What comes in from a UMA address may go on to an account outside, and come back from there. */
const usualOf = (row: TransactionRow): Carried =>
  row.type === 'OUTGOING' || isOutside(row.destination_account) ? 'payout' : 'pull';

/** Whether a rail carried it. The receiver of a payment made inside has only its source to show. */
function overRail(row: TransactionRow, kind: Carried): boolean {
  if (kind === 'payout') return isOutside(row.destination_account);
  return row.type === 'OUTGOING' ? isOutside(row.source_account) : isPull(row);
}

function hasSettled(row: TransactionRow, kind: Carried): boolean {
  if (kind === 'pull') {
    // A pull has settled once its money is here, wherever the payment made with it is by now.
    if (row.type === 'OUTGOING') return row.funded_amount !== null;
    if (isHeld(row)) return row.pending_reason !== null;
  }
  return row.status === 'COMPLETED' && row.funds === 'SETTLED';
}

/** A bank sends back what it had settled, often days later; in the sandbox, when somebody tries that. */
async function giveBack(system: System, given: Given): Promise<Output> {
  const id = given.needed('transaction');
  const reason = given.needed('reason') as FailureReason;
  await onAnyTransaction(system, id, async (ctx, row) => {
    const kind = (given.text('of') as 'payout' | 'pull' | undefined) ?? usualOf(row);
    if (!overRail(row, kind)) {
      throw refused('Its money never went over a rail. Deposits are returned by deposits return.');
    }
    if (!hasSettled(row, kind)) {
      throw refused(`Only what has settled can come back; it is ${row.status}.`);
    }
    await takeNotice(ctx, row, kind, { state: 'returned', reason });
  });
  return shown(system, id);
}

const requireCallback = (row: TransactionRow) => {
  if (row.cancel_requested_at === null) throw refused('Nobody asked to call it back.');
};

const cancel = (system: System, given: Given): Promise<Output> =>
  tellOf(system, given, async (_, row) => {
    requireCallback(row);
    return { state: 'cancelled' };
  });

async function keepGoing(system: System, given: Given): Promise<Output> {
  const id = given.needed('transaction');
  await onTransaction(system, id, async (ctx, row) => {
    await awaitedOf(ctx, row);
    requireCallback(row);
    refuseCancel(ctx, row);
  });
  return shown(system, id);
}

const verb = (name: string, summary: string, more: Flags, run: Verb['run']): Verb => ({
  noun: 'payouts',
  verb: name,
  summary,
  flags: { ...ID, ...more },
  bare: 'transaction',
  run,
});

export const payoutVerbs: readonly Verb[] = [
  {
    noun: 'payouts',
    verb: 'list',
    summary: 'List what waits for the operator: payouts, pulls and refunds, oldest first',
    flags: {
      platform: { value: 'PLATFORM', help: 'Of one platform (all)' },
      ...LIMIT,
    },
    run: list,
  },
  verb(
    'settle',
    'Say that the bank has paid',
    {
      reference: { value: 'REFERENCE', help: "The bank's own reference" },
      hash: { value: 'HASH', help: 'The transaction on its chain' },
    },
    settle,
  ),
  verb(
    'fail',
    'Say that the bank has not paid and never will',
    {
      ...REASON,
      refundable: {
        off: 'not-refundable',
        help: 'Whether the money can be given back (yes); otherwise it waits for a decision',
      },
    },
    fail,
  ),
  verb('return', 'Say that a bank has sent back what had settled', { ...REASON, ...OF }, giveBack),
  verb('cancel', 'Say that it was called back, as somebody asked', {}, cancel),
  verb('refuse-cancel', 'Say that it can no longer be called back', {}, keepGoing),
];
