// Lists, search, metrics and changes over all platforms that an operator may access, and the state of the
// installation.
import { customerListOperations } from './customers.ts';
import { eventListOperations } from './events.ts';
import { metricsOperations } from './metrics.ts';
import { stateOperations } from './overview.ts';
import { paymentListOperations } from './payments.ts';
import { retentionOperations } from './retention.ts';
import { searchOperations } from './search.ts';
import { streamOperations } from './stream.ts';
import { systemOperations } from './system.ts';

export const overviewGroup = [
  ...paymentListOperations,
  ...customerListOperations,
  ...eventListOperations,
  ...searchOperations,
  ...stateOperations,
  ...metricsOperations,
  ...streamOperations,
  ...systemOperations,
  ...retentionOperations,
];
