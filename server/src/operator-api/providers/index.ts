// Operations on providers: their routes, messages, and reconciliation.
import type { OperatorOperation } from '../handle.ts';
import { providerOperations } from './providers.ts';
import { reconciliationOperations } from './reconciliation.ts';
import { routeOperations } from './routes.ts';

export const providerGroup: readonly OperatorOperation[] = [
  ...providerOperations,
  ...routeOperations,
  ...reconciliationOperations,
];
