// Everything that the server holds about a customer: the descriptions of all features, in the order in
// which an export shows them and an erasure empties them. Payments come before cards, whose messages refer to
// them.
import { agentPersonalData } from './features/agents/index.ts';
import { internalAccountPersonalData } from './features/balances/internal-accounts/index.ts';
import { cardPersonalData } from './features/cards/index.ts';
import { contactPersonalData } from './features/customers/contacts/index.ts';
import { documentPersonalData } from './features/customers/documents/index.ts';
import { linkPersonalData } from './features/customers/hosted-verification/index.ts';
import { importPersonalData } from './features/customers/imports/index.ts';
import { invitationPersonalData } from './features/customers/invitations/index.ts';
import { type AllPersonalData, erasurePersonalData } from './features/customers/privacy/index.ts';
import { customerPersonalData } from './features/customers/records/index.ts';
import { verificationPersonalData } from './features/customers/verifications/index.ts';
import { messagePersonalData } from './features/notifications/messages/index.ts';
import { externalAccountPersonalData } from './features/payees/external-accounts/index.ts';
import { ownershipPersonalData } from './features/payees/ownership/index.ts';
import { lookupPersonalData } from './features/payees/receivers/index.ts';
import { paymentPersonalData } from './features/payments/quotes/index.ts';
import { scaPersonalData } from './features/sca/index.ts';
import { stablecoinPersonalData } from './features/stablecoins/index.ts';
import { walletPersonalData } from './features/wallets/accounts/index.ts';
import { credentialPersonalData } from './features/wallets/credentials/index.ts';

export const PERSONAL_DATA: AllPersonalData = [
  customerPersonalData,
  importPersonalData,
  documentPersonalData,
  verificationPersonalData,
  linkPersonalData,
  messagePersonalData,
  contactPersonalData,
  invitationPersonalData,
  internalAccountPersonalData,
  walletPersonalData,
  credentialPersonalData,
  externalAccountPersonalData,
  scaPersonalData,
  ownershipPersonalData,
  stablecoinPersonalData,
  lookupPersonalData,
  paymentPersonalData,
  agentPersonalData,
  cardPersonalData,
  erasurePersonalData,
];
