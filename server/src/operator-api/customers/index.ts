// Operations of customers, their identity checks, cards, payees, agents and wallets.
import type { OperatorOperation } from '../handle.ts';
import { agentOperations } from './agents.ts';
import { cardPaymentOperations } from './card-payments.ts';
import { cardOperations } from './cards.ts';
import { customerNameOperations } from './customer-names.ts';
import { customerStateOperations } from './customer-state.ts';
import { customerOperations } from './customers.ts';
import { externalAccountOperations } from './external-accounts.ts';
import { scaOperations } from './sca.ts';
import { verificationOperations } from './verifications.ts';
import { walletOperations } from './wallet.ts';

export const customerGroup: readonly OperatorOperation[] = [
  ...verificationOperations,
  ...scaOperations,
  ...customerOperations,
  ...customerNameOperations,
  ...customerStateOperations,
  ...cardOperations,
  ...cardPaymentOperations,
  ...externalAccountOperations,
  ...agentOperations,
  ...walletOperations,
];
