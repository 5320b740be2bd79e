// The definitions of the personal data of a customer in all features. An export lists the tables in
// this order, and an erasure empties the tables in this order. Payments precede cards, whose
// messages refer to payments.
import { agentFeature } from './features/agents/index.ts';
import { internalAccountFeature } from './features/balances/internal-accounts/index.ts';
import { cardFeature } from './features/cards/index.ts';
import { contactFeature } from './features/customers/contacts/index.ts';
import { documentFeature } from './features/customers/documents/index.ts';
import { kycLinkFeature } from './features/customers/hosted-verification/index.ts';
import { importFeature } from './features/customers/imports/index.ts';
import { invitationFeature } from './features/customers/invitations/index.ts';
import { ownerFeature } from './features/customers/owners/index.ts';
import { type AllPersonalData, privacyFeature } from './features/customers/privacy/index.ts';
import { customerFeature } from './features/customers/records/index.ts';
import { verificationFeature } from './features/customers/verifications/index.ts';
import { messageFeature } from './features/notifications/messages/index.ts';
import { externalAccountFeature } from './features/payees/external-accounts/index.ts';
import { ownershipFeature } from './features/payees/ownership/index.ts';
import { receiverFeature } from './features/payees/receivers/index.ts';
import { providerMessageFeature } from './features/payments/provider-messages/index.ts';
import { quoteFeature } from './features/payments/quotes/index.ts';
import { scaFeature } from './features/sca/authentication/index.ts';
import { scaEventFeature } from './features/sca/events/index.ts';
import { lockoutFeature } from './features/sca/lockout/index.ts';
import { stablecoinFeature } from './features/stablecoins/index.ts';
import { approvalFeature } from './features/staff/approvals/index.ts';
import { auditFeature } from './features/staff/audit/index.ts';
import { walletFeature } from './features/wallets/index.ts';

export const PERSONAL_DATA: AllPersonalData = [
  customerFeature.personalData,
  ownerFeature.personalData,
  importFeature.personalData,
  documentFeature.personalData,
  verificationFeature.personalData,
  kycLinkFeature.personalData,
  messageFeature.personalData,
  contactFeature.personalData,
  invitationFeature.personalData,
  internalAccountFeature.personalData,
  walletFeature.personalData,
  externalAccountFeature.personalData,
  lockoutFeature.personalData,
  scaFeature.personalData,
  scaEventFeature.personalData,
  ownershipFeature.personalData,
  stablecoinFeature.personalData,
  receiverFeature.personalData,
  quoteFeature.personalData,
  providerMessageFeature.personalData,
  agentFeature.personalData,
  cardFeature.personalData,
  privacyFeature.personalData,
  auditFeature.personalData,
  approvalFeature.personalData,
];
