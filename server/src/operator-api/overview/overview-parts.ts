// The numbers of the overview. Each is read from an index with a limit, or from the first page of a
// list, so the cost is bounded. For an operator who is restricted to some platforms, the cost grows
// with the number of platforms. Numbers are cached for a second, so that consoles with the same rights and
// filters share them.
import { trialBalance } from '../../features/accounting/index.ts';
import { listCardExceptions } from '../../features/cards/index.ts';
import { listVerifications } from '../../features/customers/verifications/index.ts';
import { readQueues } from '../../features/jobs/index.ts';
import { deliveryHealth } from '../../features/notifications/deliveries/index.ts';
import { externalAccountReviews } from '../../features/payees/external-accounts/index.ts';
import {
  listAwaitedTransfers,
  listHeldFunds,
  listSuspense,
} from '../../features/payments/manual/index.ts';
import { searchFactorResets } from '../../features/sca/authentication/index.ts';
import { searchStablecoins } from '../../features/stablecoins/index.ts';
import { listApprovals } from '../../features/staff/approvals/index.ts';
import { allPlatforms } from '../../features/tenancy/platform/index.ts';
import { searchWalletRecoveries } from '../../features/wallets/index.ts';
import type { Operator } from '../../kernel/caller.ts';
import type { OperatorPermission } from '../../kernel/contract/operator-permissions.ts';
import { iso } from '../../kernel/effects.ts';
import { Fault } from '../../kernel/fault.ts';
import { MODES, type Mode } from '../../kernel/mode.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';
import { type OperatorCall, rightsIn } from '../handle.ts';
import { summedPlatforms } from '../several-platforms.ts';

/** Maximum number of items of a list that are counted. */
export const MAX_WORK = 100;
/** Maximum number of internal accounts of selected platforms whose balances are summed. */
const MAX_ACCOUNTS = 5_000;
const MAX_PLATFORMS = 200;
const CACHE_MS = 1_000;
const MAX_CACHED_OVERVIEWS = 100;

interface Query {
  platformId?: string | undefined;
  mode?: Mode | undefined;
}

/** The data of a list item. */
interface Item {
  platformId?: string | undefined;
  since?: string | undefined;
  createdAt?: string | undefined;
}

interface Items {
  data: readonly Item[];
  hasMore: boolean;
}

interface WorkQuery {
  platformId?: string | undefined;
  limit: number;
}

type ReadItems = (runtime: Runtime, query: WorkQuery, call: OperatorCall) => Promise<Items>;

/** Kinds of open work: the permission to read them, and the list that is counted. */
const WORK = {
  heldDeposits: ['payments.read', listHeldFunds],
  awaitedTransfers: ['payments.read', listAwaitedTransfers],
  suspenseItems: ['payments.read', listSuspense],
  verifications: [
    'customers.read',
    (runtime, query) => listVerifications(runtime, { ...query, status: 'PENDING_MANUAL_REVIEW' }),
  ],
  externalAccounts: ['customers.read', externalAccountReviews.waiting],
  factorResets: [
    'authentication.read',
    (runtime, query) => searchFactorResets(runtime, { ...query, status: 'PENDING_REVIEW' }),
  ],
  walletRecoveries: [
    'wallets.read',
    (runtime, query) => searchWalletRecoveries(runtime, { ...query, status: 'WAITING' }),
  ],
  cardExceptions: ['cards.read', listCardExceptions],
  stablecoins: [
    'stablecoins.read',
    (runtime, query) => searchStablecoins(runtime, { ...query, serviceStatus: 'PENDING_APPROVAL' }),
  ],
  approvals: [
    'approvals.read',
    async (runtime, query, call) => {
      const pendingQuery = { ...query, status: 'PENDING' } as const;
      const page = await listApprovals(runtime, rightsIn(call), call.operator, pendingQuery);
      // Expired approvals are stored as pending.
      return { ...page, data: page.data.filter(({ status }) => status === 'PENDING') };
    },
  ],
} as const satisfies Record<string, readonly [OperatorPermission, ReadItems]>;

export const WORK_NAMES = Object.keys(WORK) as (keyof typeof WORK)[];

interface WorkCount {
  name: string;
  count: number;
  hasMore: boolean;
  oldestAt?: string;
}

function countOf(name: string, { data, hasMore }: Items, isOpen: (item: Item) => boolean) {
  const openItems = data.filter(isOpen);
  const [oldestAt] = openItems.flatMap(({ since, createdAt }) => since ?? createdAt ?? []).sort();
  const result: WorkCount = { name, count: openItems.length, hasMore };
  return oldestAt === undefined ? result : { ...result, oldestAt };
}

const mayRead = ({ permissions }: Operator, permission: OperatorPermission) =>
  permissions.includes(permission);

interface Scope {
  runtime: Runtime;
  call: OperatorCall;
  query: Query;
  /** IDs of the selected platforms. */
  platformIds: readonly string[];
  /**
   * The selected platforms if each is read separately, or undefined for all platforms or all of an
   * environment.
   */
  selectedPlatforms: readonly string[] | undefined;
}

/** The first items of each platform, until their number exceeds the maximum count. */
async function itemsOfEach(
  platformIds: readonly string[],
  read: (query: WorkQuery) => Promise<Items>,
): Promise<Items> {
  const data: Item[] = [];
  let hasMore = false;
  for (const platformId of platformIds) {
    const page = await read({ platformId, limit: MAX_WORK });
    data.push(...page.data);
    hasMore ||= page.hasMore;
    if (data.length > MAX_WORK) break;
  }
  return { data: data.slice(0, MAX_WORK), hasMore: hasMore || data.length > MAX_WORK };
}

async function readWork({ runtime, call, platformIds, selectedPlatforms, query }: Scope) {
  const selectedIds = new Set(platformIds);
  const isOpen = ({ platformId }: Item) =>
    query.mode === undefined || selectedIds.has(platformId ?? '');
  const names = WORK_NAMES.filter((name) => mayRead(call.operator, WORK[name][0]));
  return Promise.all(
    names.map(async (name) => {
      const [, readItems]: readonly [OperatorPermission, ReadItems] = WORK[name];
      const read = (workQuery: WorkQuery) => readItems(runtime, workQuery, call);
      const items = await (selectedPlatforms
        ? itemsOfEach(selectedPlatforms, read)
        : read({ limit: MAX_WORK }));
      return countOf(name, items, isOpen);
    }),
  );
}

/** Jobs by the first part of their kind. */
async function readJobs({ runtime, selectedPlatforms }: Scope) {
  const groups = new Map<string, { queued: number; dead: number; oldestMs: number }>();
  for (const { kind, queued, dead, oldestMs } of await readQueues(runtime, selectedPlatforms)) {
    const [name = kind] = kind.split('.');
    const group = groups.get(name) ?? { queued: 0, dead: 0, oldestMs: 0 };
    groups.set(name, {
      queued: group.queued + queued,
      dead: group.dead + dead,
      oldestMs: Math.max(group.oldestMs, oldestMs),
    });
  }
  return [...groups].map(([group, { oldestMs, ...counts }]) => ({
    ...{ group, ...counts },
    oldestSeconds: Math.round(oldestMs / 1_000),
  }));
}

async function readBalances({ runtime, query: { mode }, selectedPlatforms: platformIds }: Scope) {
  // Over all platforms the sum of internal accounts is derived from the system accounts.
  const maxCounted = platformIds ? MAX_ACCOUNTS : 0;
  const { data, isCounted } = await trialBalance(runtime, { platformIds, mode, maxCounted });
  const isComplete = isCounted || platformIds === undefined;
  return {
    isComplete,
    data: data.map(({ mode, currency, type, net }) => ({ mode, currency, type, net })),
  };
}

/** Throws NOT_FOUND for an unknown platform. */
async function platformsOf({ runtime, call, query }: Pick<Scope, 'runtime' | 'call' | 'query'>) {
  const selectedIds = summedPlatforms(call.operator, query);
  const allSelected = (await allPlatforms(runtime.db)).filter(
    ({ id }) => selectedIds?.includes(id) ?? true,
  );
  if (query.platformId !== undefined && allSelected.length === 0) {
    throw new Fault('NOT_FOUND', 'Platform not found.');
  }
  const { mode } = query;
  const platformIds = allSelected
    .filter(({ environment }) => (mode ?? environment) === environment)
    .map(({ id }) => id);
  return { platformIds, selectedPlatforms: selectedIds && platformIds.slice(0, MAX_PLATFORMS) };
}

const ifAllowed = async <V>(
  { call: { operator } }: Scope,
  permission: OperatorPermission,
  name: string,
  read: () => Promise<V>,
): Promise<Record<string, V>> => (mayRead(operator, permission) ? { [name]: await read() } : {});

/** Providers of each environment, and their circuits in this process. */
const connectorsOf = ({ installation, process }: OperatorCall) => ({
  environments: MODES.map((mode) => ({
    mode,
    capabilities: Object.entries(installation.connectorsOf(mode))
      .flatMap(([name, port]) => (port === undefined ? [] : name))
      .sort(),
  })),
  circuits: [...process.circuits()].map(([provider, state]) => ({ provider, state })),
});

async function readOverview(call: OperatorCall, query: Query) {
  const { installation, operator } = call;
  const { runtime } = installation;
  const platforms = await platformsOf({ runtime, call, query });
  const scope: Scope = { runtime, call, query, ...platforms };
  const { platformIds } = platforms;
  const parts = await Promise.all([
    ifAllowed(scope, 'jobs.read', 'jobs', () => readJobs(scope)),
    ifAllowed(scope, 'webhooks.read', 'webhooks', () =>
      deliveryHealth(runtime, platformIds.slice(0, MAX_PLATFORMS)),
    ),
    ifAllowed(scope, 'ledger.read', 'balances', () => readBalances(scope)),
    readWork(scope).then((workCounts) => ({ work: workCounts })),
  ]);
  const hasAllPlatforms = operator.platformIds === null;
  return {
    at: iso(runtime.effects.now()),
    platforms: platformIds.length,
    ...Object.assign({}, ...parts),
    ...(hasAllPlatforms ? { connectors: connectorsOf(call) } : {}),
  };
}

type Overview = Awaited<ReturnType<typeof readOverview>>;

interface CachedOverview {
  at: number;
  overview: Promise<Overview>;
}

const caches = new WeakMap<object, Map<string, CachedOverview>>();

/** The overview of an operator, cached for up to a second for the same rights and filters. */
export function overviewOf(call: OperatorCall, query: Query): Promise<Overview> {
  const { operator, unauditedRuntime } = call;
  const cache = caches.get(unauditedRuntime) ?? new Map<string, CachedOverview>();
  caches.set(unauditedRuntime, cache);
  const { permissions, platformIds } = operator;
  const key = JSON.stringify([query.platformId, query.mode, permissions, platformIds]);
  const now = performance.now();
  const cachedOverview = cache.get(key);
  if (cachedOverview && now - cachedOverview.at < CACHE_MS) return cachedOverview.overview;
  if (cache.size >= MAX_CACHED_OVERVIEWS) cache.clear();
  const overview = readOverview(call, query);
  cache.set(key, { at: now, overview });
  overview.catch(() => cache.delete(key));
  return overview;
}
