// Labels of fields. A field without a label here is labeled by its own name.

const LABELS: Readonly<Record<string, string>> = {
  id: 'ID',
  railMode: 'Rail selected',
  awaitedTransfer: 'Transfer to send',
  sendingAmount: 'Sent',
  receivingAmount: 'Received',
  platformId: 'Platform',
  customerId: 'Customer',
  transactionId: 'Payment',
  sourceAccountId: 'Source account',
  destinationAccountId: 'Destination account',
  quoteId: 'Quote',
  agentId: 'Agent',
  accountId: 'Account',
  cardId: 'Card',
  jobId: 'Job',
  providerId: 'Provider',
  routeId: 'Route ID',
  publicKeyPem: 'Public key (PEM)',
  activeFrom: 'Active from',
  retiredAt: 'Retired',
  minAmount: 'Smallest amount',
  maxAmount: 'Largest amount',
  ties: 'Balanced',
  bookedBalance: 'Balance in the ledger',
  overlapHours: 'Overlap (hours)',
  eventId: 'Event',
  endpointId: 'Endpoint',
  operatorUserId: 'User',
  requestId: 'Request ID',
  operationId: 'Operation',
  subjectId: 'Subject',
  policyId: 'Policy',
  checkedAt: 'Last check',
  receivedAt: 'Received',
  createdAt: 'Created',
  updatedAt: 'Updated',
  settledAt: 'Settled',
  expiresAt: 'Expires',
  deletedAt: 'Deleted',
  decidedAt: 'Decided',
  usedAt: 'Last used',
  dueAt: 'Due',
  failedAt: 'Last failure',
  cancelledAt: 'Canceled',
  sentAmount: 'Sent',
  receivedAmount: 'Received',
  totpCode: 'Code',
  umaDomain: 'UMA domain',
  kycUrl: 'Verification link',
  ip: 'IP address',
  url: 'URL',
  durationMs: 'Duration (ms)',
  callerType: 'Credential',
  line1: 'Street',
  line2: 'Street, line 2',
  memoryBytes: 'Memory',
  sizeBytes: 'Size',
  uptimeSeconds: 'Uptime',
  eventLoopDelayMs: 'Event loop delay (ms)',
  p50: 'Median',
  p99: '99th percentile',
  ibanOrAccountNumber: 'Account number',
};

export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** `failureReason` → `Failure reason`. */
export const fieldLabel = (name: string): string =>
  LABELS[name] ??
  sentence(
    name
      .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .replaceAll(/ id\b/g, ' ID')
      .replaceAll(/[_.-]/g, ' '),
  );
