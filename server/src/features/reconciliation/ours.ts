// Our transfers, returns and deposits that the lines of a day can be about: those that a line names by ID or
// reference, those of the provider that no statement has had so far, and what was recorded in the period.

import type { Time } from '../../kernel/effects.ts';
import type { SystemAccount } from '../../ledger/chart.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';
import { providerReports } from '../payments/manual/index.ts';
import { transferredBy } from '../payments/payouts/index.ts';
import { subjectOf } from '../payments/provider-messages/index.ts';
import type { WaitKind } from '../payments/suspense/index.ts';
import {
  paymentReferenceOf,
  refundReferenceOf,
  reportedResults,
  transactionIdOfReference,
} from '../payments/suspense/index.ts';
import {
  asPayment,
  type PaymentRow,
  readTransaction,
  type TransactionRow,
} from '../payments/transactions/index.ts';
import { reportedTransfers, type TransferOfProvider } from '../providers/index.ts';
import type { Direction, Ours } from './matching.ts';
import type { Source } from './sources.ts';
import type { LineRow } from './store.ts';

/** One of our transfers or deposits in one direction. */
export interface OurItem extends Ours {
  transactionId: string;
  /** The account that has its amount until the provider reports it. */
  account: Exclude<SystemAccount, 'provider'>;
  /** The transfer itself, and not its return. */
  isMain: boolean;
  /** It must be on this statement, or on an earlier one. */
  isExpected: boolean;
  /** The kind of the transfer; null for a deposit. */
  transfer: WaitKind | null;
}

type Db = Pick<Runtime, 'db'>;

const SUFFIX: Record<WaitKind, string> = { payout: '', debit: '/pull', refund: '/refund' };
const CHUNK = 1_000;

export function* chunksOf<T>(items: readonly T[], size: number = CHUNK): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

const keyOf = (transferId: string, direction: Direction) => `${transferId}#${direction}`;

interface Settlement {
  state: Ours['state'];
  at: Time;
}

/** Whether the transfer has left or arrived by our books. */
function settlementOf(row: PaymentRow, kind: WaitKind, isReturned: boolean): Settlement {
  const at = row.settled_at ?? row.updated_at;
  if (kind === 'refund') {
    const { status, settledAt } = row.refund ?? {};
    const state = status === 'COMPLETED' ? 'settled' : status === 'FAILED' ? 'failed' : 'pending';
    return { state, at: settledAt === undefined ? row.updated_at : Date.parse(settledAt) };
  }
  if (isReturned || providerReports.hasSettled(row, kind)) return { state: 'settled', at };
  const isOver = row.status === 'FAILED' || row.status === 'COMPLETED' || row.status === 'EXPIRED';
  return { state: isOver ? 'failed' : 'pending', at };
}

/** A payment that failed after it was settled was returned. */
async function wasReturned({ db }: Db, row: PaymentRow, kind: WaitKind): Promise<boolean> {
  if (kind === 'refund') return false;
  if (row.status === 'FAILED' && row.settled_at !== null) return true;
  return reportedResults.isReturned(db, row.id, kind);
}

/** A transfer and its return. */
async function legsOf(
  runtime: Db,
  transfer: TransferOfProvider,
  { references, isReturnExpected }: { references: readonly string[]; isReturnExpected: boolean },
): Promise<OurItem[]> {
  const { transactionId, kind } = subjectOf(transfer.id);
  const transaction = await readTransaction(runtime.db, transactionId);
  if (!transaction || transaction.type === 'CARD') return [];
  const row = asPayment(transaction);
  if (kind === 'refund' && row.refund === null) return [];
  const isReturned = await wasReturned(runtime, row, kind);
  const { state, at } = settlementOf(row, kind, isReturned);
  const ownReference = kind === 'refund' ? refundReferenceOf(row.id) : paymentReferenceOf(row.id);
  const common = {
    ...transferredBy(row, kind),
    ...{ transferId: transfer.id, transactionId, transfer: kind },
    references: [...new Set([ownReference, ...references])],
    account: kind === 'payout' ? ('external_settlement' as const) : ('rail_in_transit' as const),
  };
  const direction = kind === 'debit' ? 'in' : 'out';
  const back = direction === 'in' ? 'out' : 'in';
  return [
    {
      ...common,
      ...{ key: keyOf(transfer.id, direction), direction, state, at, isMain: true },
      isExpected: transfer.reported_day === null && state === 'settled',
    },
    {
      ...common,
      ...{ key: keyOf(transfer.id, back), direction: back, isMain: false },
      state: isReturned ? 'settled' : 'pending',
      at: row.updated_at,
      isExpected: isReturned && isReturnExpected,
    },
  ];
}

type DepositRow = Awaited<ReturnType<typeof providerReports.depositsById>>[number];

/** Whether the bank has reversed a deposit. */
const isReversed = (row: TransactionRow) =>
  row.type === 'INCOMING' && row.status === 'FAILED' && row.funds === 'RETURNED' && !row.refund;

/** A deposit and its return by the bank. */
async function depositLegs(
  { db }: Db,
  { environment }: Source,
  deposit: DepositRow,
): Promise<OurItem[]> {
  const row = await readTransaction(db, deposit.transaction_id);
  if (!row) return [];
  const { currency, amount, provider_id, created_at: at } = deposit;
  const prefix = [environment, currency, ...(provider_id ? [provider_id] : []), ''].join('/');
  const common = {
    ...{ currency, amount, transferId: deposit.id, transactionId: row.id, transfer: null },
    references: [deposit.id.slice(prefix.length)],
    account: 'rail_in_transit' as const,
  };
  return [
    {
      ...common,
      ...{ key: keyOf(deposit.id, 'in'), direction: 'in', state: 'settled', at, isMain: true },
      isExpected: provider_id !== null,
    },
    {
      ...common,
      ...{ key: keyOf(deposit.id, 'out'), direction: 'out', isMain: false, isExpected: false },
      ...{ state: isReversed(row) ? 'settled' : 'pending', at: row.updated_at },
    },
  ];
}

/** IDs that the lines name, with the references under which each was found. */
async function namedTransfers({ db }: Db, lines: readonly LineRow[]) {
  const named = new Map<string, Set<string>>();
  const add = (id: string, reference?: string) => {
    const references = named.get(id) ?? new Set();
    named.set(id, references);
    if (reference !== undefined) references.add(reference);
  };
  const references = new Set<string>();
  for (const line of lines) {
    if (line.transfer_id !== null) add(line.transfer_id);
    for (const text of [line.reference, line.bank_reference]) {
      if (text === null) continue;
      references.add(text);
      const transactionId = transactionIdOfReference(text);
      if (transactionId) for (const suffix of Object.values(SUFFIX)) add(transactionId + suffix);
    }
  }
  for (const chunk of chunksOf([...references])) {
    for (const { transactionId, kind, reference } of await reportedResults.byReferences(
      db,
      chunk,
    )) {
      add(transactionId + SUFFIX[kind], reference ?? undefined);
    }
  }
  return { named, references: [...references] };
}

interface Scope {
  currency: string;
  period: readonly [Time, Time];
  /** Keys of ours that an earlier statement did not have. */
  missing: readonly string[];
  /** Whether transfers that no statement has had are included. */
  isComplete: boolean;
  /** Includes the deposits of this transaction. */
  transactionId?: string | undefined;
}

const idOf = (key: string) => key.slice(0, key.lastIndexOf('#'));
const isTransfer = (key: string) => key.startsWith('Transaction:');
/** Whether the key is that of the return of a transfer. */
const isReturn = (key: string) =>
  isTransfer(key) && key.endsWith(idOf(key).endsWith('/pull') ? '#out' : '#in');

/** Everything of ours that the lines can match, each once. */
export async function oursFor(
  runtime: Db,
  source: Source,
  lines: readonly LineRow[],
  { currency, period, missing, isComplete, transactionId: ofTransaction }: Scope,
): Promise<OurItem[]> {
  const { db } = runtime;
  const { providerId, environment } = source;
  const { named, references } = await namedTransfers(runtime, lines);
  const returned = await reportedResults.returnedIn(db, period);
  const returnIds = new Set(
    returned.map(({ transactionId, kind }) => transactionId + SUFFIX[kind]),
  );
  for (const key of missing) if (isReturn(key)) returnIds.add(idOf(key));
  const missingIds = missing.filter(isTransfer).map(idOf);
  const ids = new Set([...named.keys(), ...returnIds, ...missingIds]);
  const transfers = new Map<string, TransferOfProvider>();
  for (const chunk of chunksOf([...ids])) {
    for (const each of await reportedTransfers.byIds(db, providerId, chunk)) {
      transfers.set(each.id, each);
    }
  }
  if (isComplete) {
    for await (const page of reportedTransfers.unreported(db, providerId)) {
      for (const each of page) transfers.set(each.id, each);
    }
  }
  const items: OurItem[] = [];
  for (const chunk of chunksOf([...transfers.values()], 500)) {
    const legs = chunk.map((each) =>
      legsOf(runtime, each, {
        references: [...(named.get(each.id) ?? [])],
        isReturnExpected: returnIds.has(each.id),
      }),
    );
    items.push(...(await Promise.all(legs)).flat());
  }
  const missingDeposits = missing.filter((key) => !isTransfer(key)).map(idOf);
  const ofReferences = references.flatMap((bankReference) => [
    providerReports.depositIdOf(environment, {
      ...{ currency, bankReference, reportedBy: { providerId, environment } },
    }),
    providerReports.depositIdOf(environment, { currency, bankReference }),
  ]);
  const deposits = new Map<string, DepositRow>();
  for (const chunk of chunksOf([...ofReferences, ...missingDeposits])) {
    for (const each of await providerReports.depositsById(runtime, chunk)) {
      deposits.set(each.id, each);
    }
  }
  const others = [
    ...(await providerReports.depositsReportedIn(runtime, providerId, currency, period)),
    ...(ofTransaction ? await providerReports.depositsOf(runtime, ofTransaction) : []),
  ];
  for (const each of others) deposits.set(each.id, each);
  for (const chunk of chunksOf([...deposits.values()], 500)) {
    const legs = chunk.map((each) => depositLegs(runtime, source, each));
    items.push(...(await Promise.all(legs)).flat());
  }
  return items;
}
