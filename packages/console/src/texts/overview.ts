// Texts of the overview.

export const OVERVIEW_TEXTS = {
  range: 'Period',
  mode: 'Environment',
  availability: {
    closed: 'Available',
    'half-open': 'Unavailable, being retried',
    open: 'Unavailable',
  },
  ranges: { day: '24 h', week: '7 days', month: '30 days', quarter: '90 days', year: '1 year' },
  currency: 'Currency',
  payments: 'Payments',
  volume: 'Volume',
  volumeOf: (currency: string) => `Amount of the payments in ${currency}`,
  results: 'Results',
  resultsText: 'Number of payments by their result',
  completed: 'Completed',
  failed: 'Failed',
  returned: 'Returned',
  successRate: 'Success rate',
  returnRate: 'Return rate',
  open: (count: number) => `${count.toLocaleString()} in progress`,
  failedCount: (count: number) => `${count.toLocaleString()} failed`,
  returnedCount: (count: number) => `${count.toLocaleString()} returned`,
  currencies: (count: number) => `of ${count} ${count === 1 ? 'currency' : 'currencies'}`,
  noPayments: 'No payments in this period.',
  completeUntil: 'Complete until',
  work: 'Open work',
  balances: 'Balances in the ledger',
  incomplete:
    'Only a part of the accounts is included, because there are more than 5,000. See the page Ledger.',
  health: 'Queues, webhooks and providers',
} as const;
