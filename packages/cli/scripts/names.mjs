// Names of resources and verbs, such as `external-accounts create`, from the groups of the SDK and the
// names of operations.

export const kebabCase = (text) =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();

/** Verbs for operations to which the rule below gives an unsuitable verb. */
const VERBS = {
  updatePlatformConfig: 'update',
  getPlatformConfig: 'get',
  getEndUserTerms: 'terms',
  createCustomerExternalAccount: 'create',
  listCustomerExternalAccounts: 'list',
  getCustomerExternalAccountById: 'get',
  deleteCustomerExternalAccountById: 'delete',
  createExternalAccountOwnershipChallenge: 'challenge',
  verifyExternalAccountOwnership: 'verify',
  createPlatformExternalAccountOwnershipChallenge: 'challenge-platform',
  verifyPlatformExternalAccountOwnership: 'verify-platform',
  approvePendingPayment: 'approve',
  rejectPendingPayment: 'reject',
  confirmReceiptDelivery: 'confirm-receipt',
  getAvailableUmaProviders: 'list',
  getDiscoveries: 'list',
  getExchangeRates: 'list',
  sandboxReceive: 'receive-uma',
  resetSandbox: 'reset',
  getSandboxClock: 'get-clock',
  updateSandboxClock: 'update-clock',
  createSandboxFixtures: 'create-fixtures',
  setSandboxStatus: 'set-status',
  getAgentMe: 'me',
};

const singular = (word) =>
  word === 'addresses' ? 'address' : word.replace(/ies$/, 'y').replace(/(?<!s)s$/, '');

/** `deleteCustomerById` of `customers` is `delete`. */
export function verbOf(operationId, group) {
  if (VERBS[operationId]) return VERBS[operationId];
  const words = kebabCase(operationId)
    .replace(/-by-id$/, '')
    .split('-');
  const groupWords = new Set(kebabCase(group).split('-').map(singular));
  const verbWords = words.filter((word, index) => index === 0 || !groupWords.has(singular(word)));
  const isPrefix =
    verbWords.length > 1 &&
    ['sandbox', 'agent'].includes(verbWords[0]) &&
    groupWords.has(verbWords[0]);
  return (isPrefix ? verbWords.slice(1) : verbWords).join('-');
}
