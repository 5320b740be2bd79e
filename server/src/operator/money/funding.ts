// `accounts refresh-funding`: an account is given its coordinates when it is opened, and keeps them. When the
// operator's collection accounts have changed, this asks for them again, for one account or for all of a
// platform, a piece at a time so that a large platform's payments are not held up.
import {
  type InternalAccountRow,
  internalAccounts,
  refreshFunding,
} from '../../features/balances/internal-accounts/index.ts';
import { type PlatformRow, systemCaller } from '../../features/tenancy/platform/index.ts';
import { isId } from '../../kernel/id.ts';
import { operate } from '../../runtime/operation/operate.ts';
import { type Given, usageError } from '../cli/flags.ts';
import { notFound, type Output, refused, type System, type Verb } from '../cli/verb.ts';
import { platformOf } from '../platforms/platform.ts';

const AT_ONCE = 100;

/** Asks for these accounts again; the ids of those whose coordinates have changed. */
async function refresh(system: System, platform: PlatformRow, ids: readonly string[]) {
  const { id, environment } = platform;
  const port = system.fundingOf(environment);
  // Nothing said is not the same as nowhere: what accounts have stays theirs.
  if (!port)
    throw refused(`Nobody says where money is paid in: ${environment} has no accounts set.`);
  return operate(system.runtime, systemCaller(id, environment), async (ctx) => {
    const rows = await Promise.all(ids.map((each) => ctx.read(internalAccounts, each)));
    return rows.filter((row) => row && refreshFunding(ctx, row, port)).map((row) => row?.id);
  });
}

async function* pagesOf({ runtime }: System, platformId: string) {
  let cursor: string | undefined;
  do {
    const filters = [{ column: 'platform_id', op: '=', value: platformId } as const];
    const query = { filters, sort: 'asc', limit: AT_ONCE, cursor } as const;
    const page = await runtime.db.page(internalAccounts, query);
    yield page.rows.map(({ id }) => id);
    cursor = page.nextCursor;
  } while (cursor);
}

async function one({ runtime }: System, id: string): Promise<InternalAccountRow> {
  const row = isId(id, 'InternalAccount') ? await runtime.db.read(internalAccounts, id) : undefined;
  if (!row) throw notFound('account');
  return row;
}

async function run(system: System, given: Given): Promise<Output> {
  const [account, platformId] = [given.text('account'), given.text('platform')];
  if ((account === undefined) === (platformId === undefined)) {
    throw usageError('Either ACCOUNT or --platform is needed');
  }
  const row = account === undefined ? undefined : await one(system, account);
  const platform = await platformOf(system, row?.platform_id ?? (platformId as string));
  const pages = row ? [[row.id]] : pagesOf(system, platform.id);
  const changed: unknown[] = [];
  let seen = 0;
  for await (const ids of pages) {
    seen += ids.length;
    changed.push(...(await refresh(system, platform, ids)));
  }
  const text = `${changed.length} of ${seen} changed.\n`;
  return { json: { accounts: seen, changed }, text };
}

export const refreshFundingVerb: Verb = {
  noun: 'accounts',
  verb: 'refresh-funding',
  summary: 'Ask again where money is paid in for an account, or for all of a platform',
  flags: {
    account: { value: 'ACCOUNT', help: 'Id of the account' },
    platform: { value: 'PLATFORM', help: 'Or all accounts of this platform' },
  },
  bare: 'account',
  run,
};
