// Reads the transfers, returns and deposits of the ledger that the lines of a day can match. A line
// identifies an item by ID or reference. Further items are transfers that are on no statement, and deposits
// and returns of the period.

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
import { asPayment, type PaymentRow, readTransaction } from '../payments/transactions/index.ts';
import { reportedTransfers, type TransferOfProvider } from '../providers/index.ts';
import type { Candidate, Direction } from './matching.ts';
import type { Source } from './sources.ts';
import type { LineRow } from './store.ts';

/** A transfer, return or deposit of the ledger in one direction. */
export interface BookItem extends Candidate {
  transactionId: string;
  /** The system account that holds the amount until the provider reports it. */
  account: Exclude<SystemAccount, 'provider'>;
  /** False for the return of a transfer or deposit. */
  isMain: boolean;
  /** Whether this or an earlier statement must contain it. */
  isExpected: boolean;
  /** The kind of the transfer, or null for a deposit. */
  transfer: WaitKind | null;
}

type Db = Pick<Runtime, 'db'>;

const SUFFIX: Record<WaitKind, string> = { payout: '', debit: '/pull', refund: '/refund' };
const CHUNK_SIZE = 1_000;

export function* chunksOf<T>(items: readonly T[], size: number = CHUNK_SIZE): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

const keyOf = (transferId: string, direction: Direction) => `${transferId}#${direction}`;

interface Settlement {
  state: Candidate['state'];
  at: Time;
}

/** State of a transfer in the ledger. */
function settlementOf(row: PaymentRow, kind: WaitKind, isReturned: boolean): Settlement {
  const at = row.settled_at ?? row.updated_at;
  if (kind === 'refund') {
    const { status, settledAt } = row.refund ?? {};
    const state = status === 'COMPLETED' ? 'settled' : status === 'FAILED' ? 'failed' : 'pending';
    return { state, at: settledAt === undefined ? row.updated_at : Date.parse(settledAt) };
  }
  if (isReturned || providerReports.hasSettled(row, kind)) return { state: 'settled', at };
  const isFinal = row.status === 'FAILED' || row.status === 'COMPLETED' || row.status === 'EXPIRED';
  return { state: isFinal ? 'failed' : 'pending', at };
}

/** Whether the provider returned the transfer. A payment that failed after its settlement was returned. */
async function wasReturned({ db }: Db, row: PaymentRow, kind: WaitKind): Promise<boolean> {
  if (kind === 'refund') return false;
  if (row.status === 'FAILED' && row.settled_at !== null) return true;
  return reportedResults.isReturned(db, row.id, kind);
}

/** Returns the items of a transfer and of its return. */
async function itemsOfTransfer(
  runtime: Db,
  transfer: TransferOfProvider,
  { references, isReturnExpected }: { references: readonly string[]; isReturnExpected: boolean },
): Promise<BookItem[]> {
  const { transactionId, kind } = subjectOf(transfer.id);
  const transaction = await readTransaction(runtime.db, transactionId);
  if (!transaction || transaction.type === 'CARD') return [];
  const row = asPayment(transaction);
  if (kind === 'refund' && row.refund === null) return [];
  const isReturned = await wasReturned(runtime, row, kind);
  const { state, at } = settlementOf(row, kind, isReturned);
  const ownReference = kind === 'refund' ? refundReferenceOf(row.id) : paymentReferenceOf(row.id);
  const commonFields = {
    ...transferredBy(row, kind),
    ...{ transferId: transfer.id, transactionId, transfer: kind },
    references: [...new Set([ownReference, ...references])],
    account: kind === 'payout' ? ('external_settlement' as const) : ('rail_in_transit' as const),
  };
  const direction = kind === 'debit' ? 'in' : 'out';
  const returnDirection = direction === 'in' ? 'out' : 'in';
  return [
    {
      ...commonFields,
      ...{ key: keyOf(transfer.id, direction), direction, state, at, isMain: true },
      isExpected: transfer.reported_day === null && state === 'settled',
    },
    {
      ...commonFields,
      ...{ key: keyOf(transfer.id, returnDirection), direction: returnDirection, isMain: false },
      state: isReturned ? 'settled' : 'pending',
      at: row.updated_at,
      isExpected: isReturned && isReturnExpected,
    },
  ];
}

type DepositRow = Awaited<ReturnType<typeof providerReports.depositsById>>[number];

/** Returns the items of a deposit and of its return by the bank. */
async function itemsOfDeposit(
  { db }: Db,
  { environment }: Source,
  deposit: DepositRow,
): Promise<BookItem[]> {
  const row = await readTransaction(db, deposit.transaction_id);
  if (!row) return [];
  const reversedAt = await providerReports.reversalTimeOf({ db }, row);
  const { currency, amount, provider_id, created_at: at } = deposit;
  const prefix = [environment, currency, ...(provider_id ? [provider_id] : []), ''].join('/');
  const commonFields = {
    ...{ currency, amount, transferId: deposit.id, transactionId: row.id, transfer: null },
    references: [deposit.id.slice(prefix.length)],
    account: 'rail_in_transit' as const,
  };
  return [
    {
      ...commonFields,
      ...{ key: keyOf(deposit.id, 'in'), direction: 'in', state: 'settled', at, isMain: true },
      isExpected: provider_id !== null,
    },
    {
      ...commonFields,
      ...{ key: keyOf(deposit.id, 'out'), direction: 'out', isMain: false, isExpected: false },
      ...{
        state: reversedAt === undefined ? 'pending' : 'settled',
        at: reversedAt ?? row.updated_at,
      },
    },
  ];
}

/** IDs of transfers that the lines identify, with the references of the lines. */
async function readNamedTransfers({ db }: Db, lines: readonly LineRow[]) {
  const referencesById = new Map<string, Set<string>>();
  const addReference = (id: string, reference?: string) => {
    const references = referencesById.get(id) ?? new Set();
    referencesById.set(id, references);
    if (reference !== undefined) references.add(reference);
  };
  const references = new Set<string>();
  for (const line of lines) {
    if (line.transfer_id !== null) addReference(line.transfer_id);
    for (const text of [line.reference, line.bank_reference]) {
      if (text === null) continue;
      references.add(text);
      const transactionId = transactionIdOfReference(text);
      if (transactionId)
        for (const suffix of Object.values(SUFFIX)) addReference(transactionId + suffix);
    }
  }
  for (const chunk of chunksOf([...references])) {
    for (const { transactionId, kind, reference } of await reportedResults.byReferences(
      db,
      chunk,
    )) {
      addReference(transactionId + SUFFIX[kind], reference ?? undefined);
    }
  }
  return { referencesById, references: [...references] };
}

interface Scope {
  currency: string;
  period: readonly [Time, Time];
  /** Keys of items that were missing on an earlier statement. */
  missingKeys: readonly string[];
  /** Whether transfers that are on no statement are included. */
  includesUnreported: boolean;
  /** Includes the deposits of this transaction. */
  transactionId?: string | undefined;
}

const idOf = (key: string) => key.slice(0, key.lastIndexOf('#'));
const isTransfer = (key: string) => key.startsWith('Transaction:');
/** Whether the key belongs to the return of a transfer. */
const isReturn = (key: string) =>
  isTransfer(key) && key.endsWith(idOf(key).endsWith('/pull') ? '#out' : '#in');

/** Returns the items that the lines can match, without duplicates. */
export async function bookItemsFor(
  runtime: Db,
  source: Source,
  lines: readonly LineRow[],
  { currency, period, missingKeys, includesUnreported, transactionId }: Scope,
): Promise<BookItem[]> {
  const { db } = runtime;
  const { providerId, environment } = source;
  const { referencesById, references } = await readNamedTransfers(runtime, lines);
  const returnResults = await reportedResults.returnedIn(db, period);
  const returnIds = new Set(
    returnResults.map(({ transactionId, kind }) => transactionId + SUFFIX[kind]),
  );
  for (const key of missingKeys) if (isReturn(key)) returnIds.add(idOf(key));
  const missingIds = missingKeys.filter(isTransfer).map(idOf);
  const ids = new Set([...referencesById.keys(), ...returnIds, ...missingIds]);
  const transfers = new Map<string, TransferOfProvider>();
  for (const chunk of chunksOf([...ids])) {
    for (const transfer of await reportedTransfers.byIds(db, providerId, chunk)) {
      transfers.set(transfer.id, transfer);
    }
  }
  if (includesUnreported) {
    for await (const page of reportedTransfers.unreported(db, providerId)) {
      for (const transfer of page) transfers.set(transfer.id, transfer);
    }
  }
  const items: BookItem[] = [];
  for (const chunk of chunksOf([...transfers.values()], 500)) {
    const chunkItems = chunk.map((transfer) =>
      itemsOfTransfer(runtime, transfer, {
        references: [...(referencesById.get(transfer.id) ?? [])],
        isReturnExpected: returnIds.has(transfer.id),
      }),
    );
    items.push(...(await Promise.all(chunkItems)).flat());
  }
  const missingDeposits = missingKeys.filter((key) => !isTransfer(key)).map(idOf);
  const namedDeposits = references.flatMap((bankReference) => [
    providerReports.depositIdOf(environment, {
      ...{ currency, bankReference, reportedBy: { providerId, environment } },
    }),
    providerReports.depositIdOf(environment, { currency, bankReference }),
  ]);
  const deposits = new Map<string, DepositRow>();
  for (const chunk of chunksOf([...namedDeposits, ...missingDeposits])) {
    for (const deposit of await providerReports.depositsById(runtime, chunk)) {
      deposits.set(deposit.id, deposit);
    }
  }
  const otherDeposits = [
    ...(await providerReports.depositsReportedIn(runtime, providerId, currency, period)),
    ...(transactionId ? await providerReports.depositsOf(runtime, transactionId) : []),
  ];
  for (const deposit of otherDeposits) deposits.set(deposit.id, deposit);
  for (const chunk of chunksOf([...deposits.values()], 500)) {
    const chunkItems = chunk.map((deposit) => itemsOfDeposit(runtime, source, deposit));
    items.push(...(await Promise.all(chunkItems)).flat());
  }
  return items;
}
