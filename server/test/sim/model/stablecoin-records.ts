// Stablecoins according to their rows and transfers: the circulating supply by completed mints and
// burns, held amounts by pending ones, and their jobs. The model is written from the posting rules.
// It finds an order that was executed twice or not at all.
import { assertNever } from '../../../src/kernel/assert-never.ts';
import type { Model, RecordedRow, RowChange, Transfer } from './model.ts';

/** Sums of the mints and burns of a stablecoin. */
interface Supply {
  circulatingAmount: bigint;
  mintingAmount: bigint;
  burningAmount: bigint;
}

export interface StablecoinRecords {
  providers: Map<string, RecordedRow>;
  coins: Map<string, RecordedRow>;
  orders: Map<string, RecordedRow>;
  supply: Map<string, Supply>;
  /** Transfers of an order or of a registration. */
  transfers: Map<string, Transfer[]>;
  /** Number of jobs of an order. */
  jobCounts: Map<string, number>;
  /** Every status that an order ever had. */
  statuses: Set<string>;
}

export const emptyStablecoinRecords = (): StablecoinRecords => ({
  providers: new Map(),
  coins: new Map(),
  orders: new Map(),
  supply: new Map(),
  transfers: new Map(),
  jobCounts: new Map(),
  statuses: new Set(),
});

const FINAL_STATUSES = ['COMPLETED', 'FAILED', 'EXPIRED'];
export const isOrderFinal = ({ status }: RecordedRow): boolean =>
  FINAL_STATUSES.includes(status ?? '');

const suppliesOf = ({ supply }: StablecoinRecords, id: string): Supply => {
  const knownSupply = supply.get(id) ?? {
    circulatingAmount: 0n,
    mintingAmount: 0n,
    burningAmount: 0n,
  };
  supply.set(id, knownSupply);
  return knownSupply;
};

/** Counted amount of an order. Only a part counts if the order was funded after its expiry. */
const countedOf = ({ amount, uncounted }: RecordedRow): bigint =>
  BigInt(amount ?? 0) - BigInt(uncounted ?? 0);

/** Adds an order to the supply of its stablecoin, or subtracts its earlier state. */
function addToSupply(records: StablecoinRecords, row: RecordedRow | null, sign: 1n | -1n): void {
  if (!row) return;
  const supplies = suppliesOf(records, row.stablecoin_id as string);
  const amount = countedOf(row) * sign;
  const isMint = row.type === 'MINT';
  if (row.status === 'COMPLETED') supplies.circulatingAmount += isMint ? amount : -amount;
  else if (!isOrderFinal(row)) supplies[isMint ? 'mintingAmount' : 'burningAmount'] += amount;
}

const orderIdIn = (row: RecordedRow | null): string | undefined =>
  JSON.parse(row?.input ?? '{}').operationId;

const CHANGE_HANDLERS: Readonly<
  Record<string, (records: StablecoinRecords, change: RowChange) => void>
> = {
  stablecoin_provider_accounts({ providers }, { after }) {
    if (after) providers.set(after.id as string, after);
  },
  stablecoins(records, { after }) {
    if (!after) return;
    records.coins.set(after.id as string, after);
    suppliesOf(records, after.id as string);
  },
  stablecoin_operations(records, { before, after }) {
    addToSupply(records, before, -1n);
    addToSupply(records, after, 1n);
    if (!after) return;
    records.orders.set(after.id as string, after);
    records.statuses.add(`${after.type} ${after.status}`);
  },
  jobs({ jobCounts }, { before, after }) {
    for (const [row, increment] of [
      [before, -1],
      [after, 1],
    ] as const) {
      const id = orderIdIn(row);
      if (id !== undefined) jobCounts.set(id, (jobCounts.get(id) ?? 0) + increment);
    }
  },
};

export function applyStablecoinChange(records: StablecoinRecords, change: RowChange): void {
  CHANGE_HANDLERS[change.table]?.(records, change);
}

/** Records a transfer of a stablecoin or an order. */
export function recordTransfer(records: StablecoinRecords, transfer: Transfer): void {
  const id = transfer.transaction_id;
  records.transfers.set(id, [...(records.transfers.get(id) ?? []), transfer]);
  // The circulating supply that the provider reports at registration.
  if (transfer.step === 'supply') suppliesOf(records, id).circulatingAmount += transfer.amount;
}

type Transitions = Readonly<Record<string, readonly string[]>>;

const ORDER_TRANSITIONS = {
  CREATED: ['PENDING_FUNDING', 'PENDING_PROVIDER', 'PROCESSING', ...FINAL_STATUSES],
  PENDING_FUNDING: ['PENDING_PROVIDER', 'PROCESSING', ...FINAL_STATUSES],
  PENDING_PROVIDER: ['PROCESSING', 'COMPLETED', 'FAILED'],
  PROCESSING: ['COMPLETED', 'FAILED'],
  // An expired order may have been funded.
  EXPIRED: ['PROCESSING', 'COMPLETED'],
  COMPLETED: [],
  FAILED: [],
} satisfies Transitions;
const ISSUANCE_TRANSITIONS: Transitions = {
  PENDING_REVIEW: ['PROVISIONING', 'PROVISIONED', 'REJECTED', 'FAILED'],
  PROVISIONING: ['PROVISIONED', 'REJECTED', 'FAILED'],
};
const SERVICE_TRANSITIONS: Transitions = {
  NOT_ENABLED: ['PENDING_APPROVAL', 'ENABLING'],
  PENDING_APPROVAL: ['ENABLING', 'NOT_ENABLED', 'ENABLED'],
  ENABLING: ['ENABLED', 'DISABLED'],
  ENABLED: ['DISABLED'],
  DISABLED: ['ENABLING'],
};
const PROVIDER_ACCOUNT_TRANSITIONS: Transitions = {
  ACTIVE: ['INVALID', 'REVOKED'],
  INVALID: ['ACTIVE'],
  REVOKED: ['ACTIVE'],
};
const LIFECYCLES: Readonly<Record<string, Readonly<Record<string, Transitions>>>> = {
  stablecoin_provider_accounts: { status: PROVIDER_ACCOUNT_TRANSITIONS },
  stablecoins: { issuance_status: ISSUANCE_TRANSITIONS, service_status: SERVICE_TRANSITIONS },
  stablecoin_operations: { status: ORDER_TRANSITIONS },
};
const FIXED_COLUMNS = ['stablecoin_id', 'type', 'amount', 'provider_account', 'platform_id'];

/** An invalid change of a stablecoin, an order, or a provider account. */
export function coinTransitionProblem(
  table: string,
  before: RecordedRow | null,
  after: RecordedRow | null,
) {
  if (!after) return `${before?.id} was removed`;
  if (!before) return undefined;
  for (const [name, transitions] of Object.entries(LIFECYCLES[table] ?? {})) {
    const [from, to] = [before[name] as string, after[name] as string];
    if (from !== to && !transitions[from]?.includes(to))
      return `${after.id} changed from ${from} to ${to}`;
  }
  if (FIXED_COLUMNS.some((name) => before[name] !== after[name]))
    return `${after.id} was changed into another order`;
  const isResubmitted =
    before.submitted_at && after.submitted_at && before.submitted_at !== after.submitted_at;
  return isResubmitted ? `${after.id} was submitted twice` : undefined;
}

/**
 * Expected phases of an order. An order that continues after its expiry is voided and held again.
 */
function expectedPhases(row: RecordedRow): string[] {
  const isNothingCounted = countedOf(row) === 0n;
  const voidedPhases = 'pending,void';
  const status = row.status as keyof typeof ORDER_TRANSITIONS;
  switch (status) {
    case 'COMPLETED':
      return [
        'pending,post',
        ...(isNothingCounted
          ? [voidedPhases]
          : [`${voidedPhases},posted`, `${voidedPhases},pending,post`]),
      ];
    case 'FAILED':
      return [voidedPhases, `${voidedPhases},pending,void`];
    case 'EXPIRED':
      return [voidedPhases];
    case 'PROCESSING':
      return ['pending', isNothingCounted ? voidedPhases : `${voidedPhases},pending`];
    case 'CREATED':
    case 'PENDING_FUNDING':
    case 'PENDING_PROVIDER':
      return ['pending'];
    default:
      return assertNever(status, 'status of an order');
  }
}

/** An order with wrong transfers or without a job. */
export function orderProblem({ stablecoinRecords }: Model, id: string): string | undefined {
  const row = stablecoinRecords.orders.get(id);
  if (!row) return 'has transfers and does not exist';
  const isFinal = isOrderFinal(row);
  const accountNames = ['issued', 'circulating'].map(
    (accountName) => `stablecoin:${row.stablecoin_id}:${accountName}`,
  );
  const [debit, credit] = row.type === 'MINT' ? accountNames : accountNames.toReversed();
  const transfers = stablecoinRecords.transfers.get(id) ?? [];
  const unexpectedTransfer = transfers.find(
    (transfer) =>
      (String(transfer.amount) !== row.amount && transfer.amount !== countedOf(row)) ||
      transfer.debit !== debit ||
      transfer.credit !== credit,
  );
  if (unexpectedTransfer) {
    const { amount, debit } = unexpectedTransfer;
    return `is for ${row.amount} and transferred ${amount} from ${debit}`;
  }
  const phases = transfers.map(({ phase }) => phase).join();
  if (!expectedPhases(row).includes(phases)) return `is ${row.status} with transfers [${phases}]`;
  const isSubmissionRequired = !['CREATED', 'FAILED'].includes(row.status as string);
  if (isSubmissionRequired && !row.submitted_at) return `is ${row.status} and was never submitted`;
  if (!isFinal && !stablecoinRecords.jobCounts.get(id)) return `is ${row.status} and has no job`;
  return undefined;
}

/** A wrong circulating supply or held amount. */
export function supplyProblem(
  { stablecoinRecords, accounts }: Model,
  id: string,
): string | undefined {
  const expectedSupply = stablecoinRecords.supply.get(id);
  const [issuedAccount, circulatingAccount] = ['issued', 'circulating'].map((accountName) =>
    accounts.get(`stablecoin:${id}:${accountName}`),
  );
  if (!expectedSupply || !issuedAccount || !circulatingAccount) return 'has no ledger accounts';
  if (circulatingAccount.balance < circulatingAccount.held)
    return `has ${circulatingAccount.balance}, of which ${circulatingAccount.held} are held for burns`;
  const pairs: [string, bigint, bigint][] = [
    ['circulate', circulatingAccount.balance, expectedSupply.circulatingAmount],
    ['are issued', -issuedAccount.balance, expectedSupply.circulatingAmount],
    ['are held for burns', circulatingAccount.held, expectedSupply.burningAmount],
    ['are held for mints', issuedAccount.held, expectedSupply.mintingAmount],
  ];
  const mismatch = pairs.find(([, actual, expectedValue]) => actual !== expectedValue);
  return mismatch && `${mismatch[1]} ${mismatch[0]}, by its orders ${mismatch[2]}`;
}
