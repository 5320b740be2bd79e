// The operations of the operator API, in the order of its document.
import { approvalOperations } from './approvals.ts';
import { auditOperations } from './audit.ts';
import { agentOperations } from './customers/agents.ts';
import { cardPaymentOperations } from './customers/card-payments.ts';
import { cardOperations } from './customers/cards.ts';
import { customerOperations } from './customers/customers.ts';
import { externalAccountOperations } from './customers/external-accounts.ts';
import { scaOperations } from './customers/sca.ts';
import { verificationOperations } from './customers/verifications.ts';
import { walletOperations } from './customers/wallet.ts';
import type { OperatorOperation } from './handle.ts';
import { paymentOperations } from './payments/index.ts';
import { platformGroup } from './platforms/index.ts';
import { staffOperations } from './staff.ts';

export const OPERATOR_OPERATIONS: readonly OperatorOperation[] = [
  ...staffOperations,
  ...approvalOperations,
  ...auditOperations,
  ...platformGroup,
  ...paymentOperations,
  ...verificationOperations,
  ...scaOperations,
  ...customerOperations,
  ...cardOperations,
  ...cardPaymentOperations,
  ...externalAccountOperations,
  ...agentOperations,
  ...walletOperations,
];
