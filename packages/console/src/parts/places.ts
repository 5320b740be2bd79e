// Maps resources to the screens that show them.

/** Prefix of an ID, or kind of a search hit → path of its screen. */
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
  Webhook: '/events',
  EVENT: '/events',
  Approval: '/approvals',
  Job: '/jobs',
  PlatformConfig: '/platforms',
  Platform: '/platforms',
  PLATFORM: '/platforms',
  REQUEST: '/requests',
  AuditRecord: '/audit',
};

/** The path of the screen of a resource; undefined if it has none. */
export function placeOf(id: string, kind?: string): string | undefined {
  const screen = SCREENS[kind ?? id.split(':', 1)[0] ?? ''];
  return screen && `${screen}/${encodeURIComponent(id)}`;
}
