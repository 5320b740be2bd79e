// The operations of the operator API, in the order of its document.
import { approvalOperations } from './approvals.ts';
import { auditOperations } from './audit.ts';
import { customerGroup } from './customers/index.ts';
import type { OperatorOperation } from './handle.ts';
import { overviewGroup } from './overview/index.ts';
import { paymentOperations } from './payments/index.ts';
import { peopleGroup } from './people/index.ts';
import { platformGroup } from './platforms/index.ts';
import { providerGroup } from './providers/index.ts';

export const OPERATOR_OPERATIONS: readonly OperatorOperation[] = [
  ...peopleGroup,
  ...approvalOperations,
  ...auditOperations,
  ...overviewGroup,
  ...platformGroup,
  ...paymentOperations,
  ...providerGroup,
  ...customerGroup,
];
