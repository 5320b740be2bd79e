// All features of the server, in the order of the published document, and their dependencies. A new
// feature is a folder and one line of this list.
import { openPlatformAccounts } from './bootstrap.ts';
import type { StoragePort } from './connectors/ports/index.ts';
import { accountingFeature, type LedgerCheckOptions } from './features/accounting/index.ts';
import { agentFeature, decidePendingAction, pendingActionOf } from './features/agents/index.ts';
import {
  internalAccountFeature,
  type transitionAccount,
} from './features/balances/internal-accounts/index.ts';
import { type CardDeps, cardFeature } from './features/cards/index.ts';
import { contactFeature } from './features/customers/contacts/index.ts';
import { documentFeature } from './features/customers/documents/index.ts';
import { kycLinkFeature } from './features/customers/hosted-verification/index.ts';
import { importFeature } from './features/customers/imports/index.ts';
import { invitationFeature } from './features/customers/invitations/index.ts';
import { ownerFeature } from './features/customers/owners/index.ts';
import {
  customerFeature,
  customersAfter,
  dataKeyOf,
  readCustomer,
} from './features/customers/records/index.ts';
import { registrationFeature } from './features/customers/registration/index.ts';
import { verificationFeature } from './features/customers/verifications/index.ts';
import { codeFeature } from './features/notifications/codes/index.ts';
import { deliveryFeature } from './features/notifications/deliveries/index.ts';
import { endpointFeature } from './features/notifications/endpoints/index.ts';
import { eventFeature, type Followers } from './features/notifications/events/index.ts';
import { messageFeature } from './features/notifications/messages/index.ts';
import { pullFeature } from './features/notifications/pulls/index.ts';
import { replayFeature } from './features/notifications/replays/index.ts';
import { type WebhookDeps, webhookFeature } from './features/notifications/webhooks/index.ts';
import { discoveryFeature } from './features/payees/discovery/index.ts';
import { externalAccountFeature } from './features/payees/external-accounts/index.ts';
import { ownershipFeature } from './features/payees/ownership/index.ts';
import { receiverFeature } from './features/payees/receivers/index.ts';
import {
  isCustomerPaying,
  isPaymentInProgress,
  lifecycleFeature,
} from './features/payments/lifecycle/index.ts';
import { monitoringFeature } from './features/payments/monitoring/index.ts';
import { payInFeature } from './features/payments/pay-ins/index.ts';
import { payoutFeature } from './features/payments/payouts/index.ts';
import { presentationFeature } from './features/payments/presentation/index.ts';
import { providerMessageFeature } from './features/payments/provider-messages/index.ts';
import { quoteFeature } from './features/payments/quotes/index.ts';
import { recallFeature } from './features/payments/recalls/index.ts';
import { transferFeature } from './features/payments/transfers/index.ts';
import { type ProviderDirectory, providerFeature } from './features/providers/index.ts';
import { reconciliationFeature } from './features/reconciliation/index.ts';
import { type RetentionDeps, retentionFeature } from './features/retention/index.ts';
import { type ClockDeps, type SandboxWorldDeps, sandboxFeature } from './features/sandbox/index.ts';
import { scaFeature } from './features/sca/authentication/index.ts';
import { stablecoinFeature } from './features/stablecoins/index.ts';
import { approvalFeature } from './features/staff/approvals/index.ts';
import { type AuditedRequest, auditedRuntime, auditFeature } from './features/staff/audit/index.ts';
import { operatorTokenFeature } from './features/staff/tokens/index.ts';
import { operatorUserFeature } from './features/staff/users/index.ts';
import { configFeature } from './features/tenancy/config/index.ts';
import { requestFeature } from './features/tenancy/requests/index.ts';
import { type Authenticator, tokenFeature } from './features/tenancy/tokens/index.ts';
import { walletFeature, walletPorts } from './features/wallets/index.ts';
import { sealedReplies } from './http/bind.ts';
import type { Operator } from './kernel/caller.ts';
import type { bodyErrors } from './kernel/contract/validate.ts';
import type { Files } from './runtime/files/files.ts';
import type { Log } from './runtime/observability/log.ts';
import type { Ctx } from './runtime/operation/context.ts';
import type { Feature } from './runtime/operation/feature.ts';
import type { Runtime } from './runtime/operation/operate.ts';
import { sealedSigningKeys } from './runtime/security/keys.ts';

/** Resources of the server for the features. */
export interface Resources
  extends Pick<SandboxWorldDeps, 'runtime' | 'operations' | 'perform' | 'removePlatformRows'> {
  connectors: CardDeps['connectors'];
  tokens: Pick<Authenticator, 'drop'>;
  webhooks: WebhookDeps;
  followers: Pick<Followers, 'register'>;
  eventRetentionMs: number;
  files: Files;
  storage: StoragePort;
  /** Base URL of links to hosted pages. */
  origin(): string;
  /** Logs a problem for the operator that clients cannot fix. */
  reportProblem(problem: string): void;
  log: Log;
  /** All errors of a body, by the contract of an operation. */
  bodyErrors: typeof bodyErrors;
  /** Whether requests need the full capacity. `countWrite` counts deferrable writes. */
  isUnderLoad(): boolean;
  countWrite(): void;
  walletRecoveryMs: number | undefined;
  /** Writes the recorded requests of this process. */
  flushRequests(): Promise<void>;
  /** Whether the server has an operation with this ID. */
  isOperation(operationId: string): boolean;
  directory: ProviderDirectory;
  /** Retention and archives of events and requests. */
  retention: RetentionDeps;
  providerMessageRetentionMs: number;
  ledgerCheck: LedgerCheckOptions;
  /** Executes the work that becomes due when the clock of a sandbox platform is advanced. */
  clockWork: ClockDeps['clockWork'];
}

/** Functions of customers and payments, which are later features, for internal accounts. */
export const accountPorts = {
  customersAfter,
  isCustomerDeleted: async (ctx, id) => (await readCustomer(ctx, id))?.deleted_at != null,
  isPaymentInProgress,
} satisfies Omit<AccountPorts, 'connectors' | 'openWalletsForAccounts'> &
  Omit<TransitionPorts, 'runtime'>;

/**
 * The data key of a customer, which seals messages. Customers are a later feature than messages.
 */
export const customerKey: MessagePorts['customerKey'] = async (reader, id) => {
  const customer = await readCustomer(reader, id);
  return customer && dataKeyOf(customer);
};

/** The server as the actor of changes that follow from a rule of operators. */
const SYSTEM: Operator = {
  ...{ kind: 'SYSTEM', id: 'system', personId: 'system', name: 'Railhead', roles: [] },
  ...{ permissions: [], platformIds: null },
};

/** A runtime whose commits contain an audit record of the system. */
const asSystem = (runtime: Runtime, change: Omit<AuditedRequest, 'operator'>): Runtime =>
  auditedRuntime(runtime, { operator: SYSTEM, ...change }).runtime;

/** The resources, and functions of later features for earlier ones. */
export const depsOf = (resources: Resources) => {
  const { connectors, webhooks, origin } = resources;
  return {
    ...resources,
    loopbackWebhooks: webhooks.loopbackWebhooks,
    serviceNamePrefix: () => webhooks.naming.prefix,
    provision: ((ctx, currencies) =>
      openPlatformAccounts(
        ctx,
        currencies,
        (environment) => connectors(environment).funding,
      )) satisfies PlatformPorts['provision'],
    ...walletPorts({ connectors }),
    isCustomerPaying,
    ...accountPorts,
    customerKey,
    directory: resources.directory,
    asSystem,
    pendingActionOf,
    pendingAction: decidePendingAction({ connectors, origin }),
  };
};

type PlatformPorts = Parameters<typeof configFeature.operations>[0];
type AccountPorts = Parameters<typeof internalAccountFeature.jobs>[0];
type MessagePorts = Parameters<typeof messageFeature.jobs>[0];
type TransitionPorts = Parameters<typeof transitionAccount>[0];

export type Deps = ReturnType<typeof depsOf>;

const FEATURES: readonly Feature<Deps>[] = [
  configFeature,
  tokenFeature,
  customerFeature,
  registrationFeature,
  importFeature,
  documentFeature,
  verificationFeature,
  kycLinkFeature,
  contactFeature,
  ownerFeature,
  invitationFeature,
  internalAccountFeature,
  walletFeature,
  externalAccountFeature,
  scaFeature,
  ownershipFeature,
  discoveryFeature,
  receiverFeature,
  quoteFeature,
  transferFeature,
  agentFeature,
  cardFeature,
  payInFeature,
  lifecycleFeature,
  presentationFeature,
  payoutFeature,
  recallFeature,
  monitoringFeature,
  webhookFeature,
  endpointFeature,
  eventFeature,
  deliveryFeature,
  replayFeature,
  pullFeature,
  messageFeature,
  codeFeature,
  stablecoinFeature,
  sandboxFeature,
  requestFeature,
  providerFeature,
  providerMessageFeature,
  accountingFeature,
  reconciliationFeature,
  retentionFeature,
  operatorTokenFeature,
  operatorUserFeature,
  auditFeature,
  approvalFeature,
];

/** The operations of all features. */
export const operationsOf = (deps: Deps) =>
  FEATURES.flatMap((each) => each.operations?.(deps) ?? []);

/** The job handlers of all features. */
export const handlersOf = (deps: Deps, operations: ReturnType<typeof operationsOf>) =>
  FEATURES.flatMap((each) => each.jobs?.(deps, operations) ?? []);

export const sweepsOf = (deps: Deps) => FEATURES.flatMap((each) => each.sweeps?.(deps) ?? []);

/** Columns that are sealed under a key of the installation, without the columns of connectors. */
export const SEALED_COLUMNS = [
  sealedSigningKeys,
  sealedReplies,
  ...FEATURES.flatMap(({ sealed }) => sealed ?? []),
];

/** Rules of tables for the reset of a sandbox platform. */
export const RESET_RULES = FEATURES.flatMap(({ reset }) => reset ?? []);

/** Stages the work that sweeps would find for a platform without a separate clock. */
export async function stageClockWork(ctx: Ctx): Promise<void> {
  for (const each of FEATURES) await each.onOwnClock?.(ctx);
}

/** Hosted pages without scripts. */
export const PAGES = FEATURES.flatMap(({ page }) => (page ? [page] : []));

export const webhookContracts = FEATURES.flatMap((each) => each.webhooks ?? []);
