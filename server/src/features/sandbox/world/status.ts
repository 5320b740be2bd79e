// Sets a status of a sandbox resource that only an operator can set in production. The transitions are those
// of the operator, so conditions and events are the same.
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { readInternalAccount, transitionAccount } from '../../balances/internal-accounts/index.ts';
import { readCustomer } from '../../customers/records/index.ts';
import { type Decision, decideVerification } from '../../customers/verifications/index.ts';
import {
  readExternalAccount,
  transitionExternalAccountByOperator,
} from '../../payees/external-accounts/index.ts';
import { rejectHeldDeposit, releaseHeldDeposit } from '../../payments/manual/index.ts';
import { readTransaction } from '../../payments/transactions/index.ts';
import { decideStablecoin, readStablecoin, type ServiceDecision } from '../../stablecoins/index.ts';
import { type SandboxStatus, setSandboxStatus } from './status-contract.ts';

export interface StatusDeps extends Omit<Parameters<typeof transitionAccount>[0], 'runtime'> {
  runtime(): Runtime;
}

interface Change {
  reason: string | null;
}

/** A resource: its current status, and the changes that lead to other statuses. */
interface Subject {
  platformId: string;
  status: string;
  changes: Partial<Record<SandboxStatus, (change: Change) => Promise<unknown>>>;
}

/** Findings that a customer whose verification is on HOLD has to resolve. */
const FINDINGS = [{ type: 'MISSING_PROOF_OF_ADDRESS_DOCUMENT' }] as const;

type Load = (ctx: Pick<Ctx, 'read'>, id: string, deps: StatusDeps) => Promise<Subject | undefined>;

const loadInternalAccount: Load = async (ctx, id, deps) => {
  const row = await readInternalAccount(ctx, id);
  if (!row) return undefined;
  const transition =
    (event: 'freeze' | 'unfreeze' | 'close') =>
    ({ reason }: Change) =>
      transitionAccount({ ...deps, runtime: deps.runtime() }, { accountId: id, event, reason });
  const changes = {
    FROZEN: transition('freeze'),
    ACTIVE: transition('unfreeze'),
    CLOSED: transition('close'),
  };
  return { platformId: row.platform_id, status: row.status, changes };
};

const loadExternalAccount: Load = async (ctx, id, deps) => {
  const row = await readExternalAccount(ctx, id);
  if (!row || row.deleted_at !== null) return undefined;
  const { status } = row;
  const transition =
    (event: 'check' | 'review' | 'pass' | 'reactivate' | 'reject' | 'disable') =>
    ({ reason }: Change) =>
      transitionExternalAccountByOperator(deps.runtime(), { accountId: id, event, reason });
  const changes = {
    PENDING: transition('check'),
    UNDER_REVIEW: transition('review'),
    ACTIVE: transition(status === 'INACTIVE' ? 'reactivate' : 'pass'),
    INACTIVE: transition(status === 'ACTIVE' ? 'disable' : 'reject'),
  };
  return { platformId: row.platform_id, status, changes };
};

const loadCustomer: Load = async (ctx, id, deps) => {
  const row = await readCustomer(ctx, id);
  if (!row || row.deleted_at !== null) return undefined;
  const decide = (state: Decision) => () =>
    decideVerification(deps.runtime(), {
      id,
      state,
      findings: state === 'unresolved' ? FINDINGS : [],
    });
  const changes = {
    HOLD: decide('unresolved'),
    APPROVED: decide('approved'),
    REJECTED: decide('rejected'),
  };
  return { platformId: row.platform_id, status: row.status, changes };
};

const loadPayment: Load = async (ctx, id, deps) => {
  const row = await readTransaction(ctx, id);
  if (row?.type !== 'INCOMING') return undefined;
  const changes = {
    COMPLETED: () => releaseHeldDeposit(deps.runtime(), { transactionId: id }),
    FAILED: () => rejectHeldDeposit(deps.runtime(), { transactionId: id }),
  };
  return { platformId: row.platform_id, status: row.status, changes };
};

const loadStablecoin: Load = async (ctx, id, deps) => {
  const row = await readStablecoin(ctx, id);
  if (!row) return undefined;
  const decide =
    (decision: ServiceDecision) =>
    ({ reason }: Change) =>
      decideStablecoin(deps.runtime(), { stablecoinId: id, decision, reason });
  const changes = {
    ENABLING: decide('approve'),
    NOT_ENABLED: decide('reject'),
    DISABLED: decide('disable'),
  };
  return { platformId: row.platform_id, status: row.service_status, changes };
};

const SUBJECT_LOADERS: Readonly<Record<string, Load>> = {
  InternalAccount: loadInternalAccount,
  ExternalAccount: loadExternalAccount,
  Customer: loadCustomer,
  Transaction: loadPayment,
  Stablecoin: loadStablecoin,
};

/** The resource. Throws NOT_FOUND for an unknown resource and for a resource of another platform. */
async function subjectOf(ctx: Ctx, id: string, deps: StatusDeps): Promise<Subject> {
  const [, load] = Object.entries(SUBJECT_LOADERS).find(([resource]) => isId(id, resource)) ?? [];
  const subject = await load?.(ctx, id, deps);
  if (subject?.platformId === ctx.caller.platformId) return subject;
  throw new Fault('NOT_FOUND', 'The resource was not found.');
}

export const sandboxStatusOperations = (deps: StatusDeps) => [
  handle(setSandboxStatus, async (ctx, { body }) => {
    const { resourceId, status, reason = null } = body;
    const { status: currentStatus, changes } = await subjectOf(ctx, resourceId, deps);
    const change = changes[status];
    if (!change) {
      const possibleStatuses = Object.keys(changes).join(', ');
      throw invalidField('status', `must be one of ${possibleStatuses} for this resource`);
    }
    if (currentStatus !== status) await change({ reason });
    return { status: 200, body: { resourceId, status } };
  }),
];
