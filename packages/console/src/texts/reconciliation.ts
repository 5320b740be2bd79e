// Texts of the screen that reconciles the ledger with statements of providers.

export const RECONCILIATION_TEXTS = {
  intro:
    'Differences between the statements of providers and the ledger, oldest first. A decision ' +
    'settles a difference, and posts its amount if the decision requires it.',
  noDifferences: 'No difference is open.',
  openOnly: 'Open',
  days: 'Days',
  daysText:
    'A day can be closed when its closing balance equals the balance of the ledger, no ' +
    'difference is open and all earlier days are closed.',
  noDays: 'No provider has sent a statement.',
  balances: 'Balances at providers',
  balancesText:
    'The latest balance reported by each provider, and the balances of the ledger. Rail in transit, ' +
    'external settlement and suspense include all providers.',
  balancesOfProvider: 'Balances',
  statements: 'Statements',
  changeStatements: 'Change',
  changingStatements:
    'The settings apply to statements received from now on. Lines that were posted are unchanged.',
  daysEnd: (zone: string) => `Days of this provider end at midnight in the time zone ${zone}.`,
  feesExpected: 'Fees of this provider are posted as expenses immediately.',
  feesDiffer: 'A fee that is not in the ledger is a difference, which an operator decides.',
  noDayRequested: 'No statement has been requested.',
  dayRequested: (day: string) => `The last day that was requested is ${day}.`,
  noBalances: 'No provider has reported a balance.',
  kinds: {
    MISSING_AT_PROVIDER: 'Missing at the provider',
    MISSING_WITH_US: 'Missing in the ledger',
  } as Readonly<Record<string, string>>,
  difference: 'Difference',
  details: 'Details',
  decision: 'Decision',
  open: 'No decision has been made.',
  assignToMe: 'Assign to me',
  note: 'Owner and note',
  closeDay: 'Close day',
  compare: 'Reconcile again',
  closing:
    'The day can no longer change. A later correction by the provider becomes a difference of the next ' +
    'open day.',
  comparing: 'Requests the statement from the provider, posts its lines and lists the differences.',
  decisions: {
    MATCH: 'Match to a payment',
    RECORD_DEPOSIT: 'Record deposit',
    RECORD_FEE: 'Record fee',
    OWN_FUNDS: 'Own funds',
    WRITE_OFF: 'Write off',
    SUSPENSE: 'Keep in suspense',
    SETTLE: 'Record settlement',
    RETURN: 'Record return',
    CARRY: 'Carry forward',
    IGNORE: 'Ignore',
  },
  consequences: {
    MATCH: 'The line of the statement is matched with this payment.',
    RECORD_DEPOSIT:
      'The amount is credited as a deposit to the account or to the owner of the reference.',
    RECORD_FEE: 'The amount is posted as an expense.',
    OWN_FUNDS:
      'The amount is posted as own funds that were sent to the provider or withdrawn from it.',
    WRITE_OFF: 'The amount is posted as a loss.',
    SUSPENSE: 'The amount remains in suspense until a later decision.',
    SETTLE: 'The transfer is recorded as settled.',
    RETURN: 'The transfer is recorded as returned, and the payer is refunded.',
    CARRY:
      'The transfer is in transit. The difference is reopened if the transfer is not in the next statement.',
    IGNORE: 'The transfer is not expected in any statement. Nothing is posted.',
  },
} as const;
