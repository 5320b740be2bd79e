// Lists, history and transitions of external accounts for operators. A transition follows the
// result of a bank, a check or a review, emits an event and is recorded with its reason. Payments
// that a bank has accepted continue. Operators cannot record proofs of ownership.

import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Database, Filter } from '../../../runtime/db/database.ts';
import { cursorOf, type PageInput } from '../../../runtime/db/paging.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { pageOfAccountActions, recordAccountAction } from '../../balances/account-actions/index.ts';
import { platformById, systemCaller } from '../../tenancy/platform/index.ts';
import { hasInstitution } from './account.ts';
import { idsOfBeneficiary } from './by-beneficiary.ts';
import { stageWalletDeclared } from './declared.ts';
import { presentExternalAccount, transitionExternalAccount } from './present.ts';
import { type ExternalAccountEvent, externalAccountStates } from './states.ts';
import { type ExternalAccountRow, externalAccounts } from './store.ts';

const accountNotFound = () => new Fault('ACCOUNT_NOT_FOUND', 'Account not found.');
const conflict = (reason: string): Fault => new Fault('CONFLICT', reason);

/** Account numbers are masked here. The list of awaited transfers shows them in full. */
function presentForOperator(row: ExternalAccountRow) {
  const {
    accountType: _,
    paymentRails: __,
    beneficiary: ___,
    ...account
  } = presentExternalAccount(row, { masked: true }).accountInfo as Record<string, unknown>;
  return {
    accountId: row.id,
    platformId: row.platform_id,
    customerId: row.customer_id,
    currency: row.currency,
    status: row.status,
    accountType: row.account_type,
    account,
    updatedAt: iso(row.updated_at),
  };
}

async function accountById({ db }: Runtime, id: string): Promise<ExternalAccountRow> {
  const row = isId(id, 'ExternalAccount') ? await db.read(externalAccounts, id) : undefined;
  if (!row || row.deleted_at !== null) throw accountNotFound();
  return row;
}

/** Length of the suffix that is stored with the details. */
const SUFFIX_LENGTH = 4;
const MAX_MATCHES = 2_000;

const BY_SUFFIX_SQL = `select id, info from external_accounts where suffix = $1
  order by created_at desc, id desc limit ${MAX_MATCHES}`;

const normalizeIdentifier = (value: unknown) =>
  String(value)
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .toUpperCase();

/** The latest accounts with this number or address, or with this suffix of four characters. */
async function idsOfNumber(db: Database, accountNumber: string): Promise<string[]> {
  const normalizedNumber = normalizeIdentifier(accountNumber);
  if (normalizedNumber.length < SUFFIX_LENGTH) return [];
  const rows = await db.query<{ id: string; info: object }>(BY_SUFFIX_SQL, [
    normalizedNumber.slice(-SUFFIX_LENGTH),
  ]);
  const hasNumber = ({ info }: { info: object }) =>
    normalizedNumber.length === SUFFIX_LENGTH ||
    Object.values(info).some((value) => normalizeIdentifier(value) === normalizedNumber);
  return rows.filter(hasNumber).map(({ id }) => id);
}

interface ListInput extends PageInput {
  /** Restricts the list to this account. */
  accountId?: string | undefined;
  platformId?: string | undefined;
  status?: string | undefined;
  /** An account number or address, or its last four characters. */
  accountNumber?: string | undefined;
  /** The full or legal name of the beneficiary. */
  beneficiary?: string | undefined;
  /** Last account of the previous page, as an alternative to its cursor. */
  after?: string | undefined;
}

// The literal predicate of the partial index. With a parameter the index would not be used.
const ACCOUNTS_IN_REVIEW = `select id, platform_id, created_at from external_accounts
  where status = 'UNDER_REVIEW' and deleted_at is null and ($1::text is null or platform_id = $1)
  order by created_at, id limit $2`;

/** The oldest external accounts that are under review. */
async function findExternalAccountsInReview(
  { db }: Pick<Runtime, 'db'>,
  { platformId, limit }: { platformId?: string | undefined; limit: number },
) {
  const rows = await db.query<Pick<ExternalAccountRow, 'id' | 'platform_id' | 'created_at'>>(
    ACCOUNTS_IN_REVIEW,
    [platformId ?? null, limit + 1],
  );
  const data = rows.slice(0, limit).map(({ id, platform_id, created_at }) => ({
    accountId: id,
    platformId: platform_id,
    createdAt: iso(created_at),
  }));
  return { data, hasMore: rows.length > limit };
}

/** A page of external accounts, oldest first. */
export async function listExternalAccounts(
  runtime: Runtime,
  { after, cursor: pageCursor, limit, ...filterInput }: ListInput,
) {
  const { accountId, platformId, status, accountNumber, beneficiary } = filterInput;
  const filters: Filter<typeof externalAccounts>[] = [{ column: 'deleted_at', op: 'isNull' }];
  if (accountId !== undefined) filters.push({ column: 'id', op: '=', value: accountId });
  if (platformId !== undefined) filters.push({ column: 'platform_id', op: '=', value: platformId });
  if (status !== undefined) filters.push({ column: 'status', op: '=', value: status });
  if (accountNumber !== undefined) {
    filters.push({ column: 'id', op: 'in', value: await idsOfNumber(runtime.db, accountNumber) });
  }
  if (beneficiary !== undefined) {
    filters.push({
      column: 'id',
      op: 'in',
      value: await idsOfBeneficiary(runtime.db, beneficiary),
    });
  }
  const cursor = after === undefined ? pageCursor : cursorOf(await accountById(runtime, after));
  const query = { filters, sort: 'asc', limit, cursor } as const;
  const { rows, ...rest } = await runtime.db.page(externalAccounts, query);
  return { data: rows.map(presentForOperator), ...rest };
}

/** A page of the operator actions on an account, and its platform. Throws ACCOUNT_NOT_FOUND. */
async function readExternalAccountHistory(runtime: Runtime, id: string, page: PageInput) {
  const account = await accountById(runtime, id);
  return { accountId: id, ...(await pageOfAccountActions(runtime, account, page)) };
}

export const externalAccountReviews = {
  history: readExternalAccountHistory,
  waiting: findExternalAccountsInReview,
};

/**
 * Stages and records the transition. Throws CONFLICT if the status or the type of the account does
 * not allow it.
 */
function applyTransition(
  ctx: Ctx,
  row: ExternalAccountRow,
  event: ExternalAccountEvent,
  reason: string | null,
): ExternalAccountRow {
  if (externalAccountStates.targetOf(row.status, event) === undefined) {
    const sources = externalAccountStates.sourcesOf(event).join(' or ');
    throw conflict(`The account is ${row.status}. This action requires the status ${sources}.`);
  }
  if (event === 'check' && !hasInstitution(row.info)) {
    throw conflict('A wallet cannot be checked by a bank. Use a review instead.');
  }
  const updatedAccount = transitionExternalAccount(ctx, row, event);
  // This wallet may be the source of held deposits.
  stageWalletDeclared(ctx, updatedAccount);
  recordAccountAction(ctx, row, { actor: 'operator', action: event, reason });
  return updatedAccount;
}

interface TransitionInput {
  accountId: string;
  event: ExternalAccountEvent;
  reason: string | null;
}

/** Throws ACCOUNT_NOT_FOUND and CONFLICT. */
export async function transitionExternalAccountByOperator(
  runtime: Runtime,
  { accountId, event, reason }: TransitionInput,
) {
  const { id, platform_id } = await accountById(runtime, accountId);
  const { environment } = await platformById(runtime, platform_id);
  const updatedAccount = await operate(
    runtime,
    systemCaller(platform_id, environment),
    async (ctx) => {
      const row = await ctx.read(externalAccounts, id);
      if (!row || row.deleted_at !== null) throw accountNotFound();
      return applyTransition(ctx, row, event, reason);
    },
  );
  return presentForOperator(updatedAccount);
}
