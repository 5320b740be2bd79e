// Maps resources to the screens that show them, and to their names.
import { sentence } from '../texts/fields.ts';

/** Path of the screen by the prefix of an ID, or by the kind of a search result. */
const SCREENS: Readonly<Record<string, string>> = {
  Transaction: '/payments',
  PAYMENT: '/payments',
  Customer: '/customers',
  CUSTOMER: '/customers',
  InternalAccount: '/accounts',
  INTERNAL_ACCOUNT: '/accounts',
  ExternalAccount: '/external-accounts',
  EXTERNAL_ACCOUNT: '/external-accounts',
  LEDGER_ACCOUNT: '/ledger',
  Card: '/cards',
  CARD: '/cards',
  Agent: '/agents',
  AGENT: '/agents',
  Stablecoin: '/stablecoins',
  Webhook: '/events',
  EVENT: '/events',
  Approval: '/approvals',
  Job: '/jobs',
  PlatformConfig: '/platforms',
  Platform: '/platforms',
  PLATFORM: '/platforms',
  REQUEST: '/requests',
  AuditRecord: '/audit',
  ReconciliationDifference: '/differences',
};

/** The path of the screen of a resource, or undefined if it has none. */
export function pathOf(id: string, kind?: string): string | undefined {
  const screen = SCREENS[kind ?? id.split(':', 1)[0] ?? ''];
  return screen && `${screen}/${encodeURIComponent(id)}`;
}

/** ID prefixes that differ from the name of the resource. */
const KINDS: Readonly<Record<string, string>> = {
  Transaction: 'payment',
  InternalAccount: 'account',
  PlatformConfig: 'platform',
  OperatorUser: 'user',
  OperatorToken: 'operator token',
  OperatorSession: 'session',
};

/** Resource type of an ID in words: `WebhookEndpoint:…` → `webhook endpoint`. */
export function kindOf(id: string): string {
  const [kind = '', uniquePart] = id.split(':', 2);
  if (!uniquePart) return '';
  return KINDS[kind] ?? kind.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}

/** Tables whose name differs from the name of the resource. */
const TABLES: Readonly<Record<string, string>> = {
  transactions: 'Payment',
  internal_accounts: 'Account',
  operator_tokens: 'Operator token',
  operator_users: 'User',
};

/** `external_accounts` → `External account`. */
export const tableName = (table: string): string =>
  TABLES[table] ?? sentence(table.replaceAll('_', ' ').replace(/ies$/, 'y').replace(/s$/, ''));
