// Examples of customers: registration, contacts, identity checks, owners, documents, imports and
// invitations.
import { describe } from 'vitest';
import { documentForm, pdfFile } from '../kit/http/documents.ts';
import {
  AMARA,
  createPerson,
  EMIL,
  NORTHWIND,
  OWNER_OF_NORTHWIND,
} from '../kit/http/example-people.ts';
import { type ExampleRecorder, examples } from '../kit/http/examples.ts';

async function recordIndividuals(recorder: ExampleRecorder) {
  const { id } = await recorder.record('createCustomer', 'individual', {
    summary: 'An individual in the United States',
    body: { platformCustomerId: 'customer-1000', ...AMARA },
  });
  const params = { customerId: id };
  await recorder.record('getCustomerById', 'individual', { summary: 'An individual', params });
  await recorder.record('updateCustomerById', 'address', {
    summary: 'Change the address of an individual',
    params,
    body: {
      customerType: 'INDIVIDUAL',
      address: { ...AMARA.address, line1: '12 Alder Court', postalCode: '97209' },
    },
  });
  await recorder.record('listCustomers', 'by-your-id', {
    summary: 'Find a customer by your own ID',
    query: { platformCustomerId: 'customer-1000' },
  });
  await recorder.record('getEndUserTerms', 'current', {
    summary: 'The terms that end users accept',
  });
  await recorder.record('createCustomerKycLink', 'hosted-page', {
    summary: 'A link to the hosted verification page',
    params,
    body: { redirectUri: 'https://example.com/welcome' },
  });
  await recorder.record('getCustomerKycLink', 'hosted-page', {
    summary: 'A link to the hosted verification page, by your own ID',
    query: { platformCustomerId: 'customer-1000' },
  });
  await recorder.record('deleteCustomerById', 'deleted', {
    summary: 'Delete a customer without balance or open payments',
    params,
  });
}

async function recordVerifications(recorder: ExampleRecorder) {
  const { id: customerId } = await createPerson(recorder, { fullName: 'Noah Lindqvist 003' });
  const { id } = await recorder.record('createVerification', 'individual', {
    summary: 'Submit an individual. The reply lists the missing data',
    body: { customerId },
  });
  await recorder.record('getVerification', 'individual', {
    summary: 'State of a verification',
    params: { verificationId: id },
  });
  await recorder.record('listVerifications', 'of-a-customer', {
    summary: 'Verifications of a customer',
    query: { customerId },
  });
}

async function recordBusinesses(recorder: ExampleRecorder) {
  const { id: customerId } = await recorder.record('createCustomer', 'business', {
    summary: 'A business in the United States',
    body: NORTHWIND,
  });
  const { id } = await recorder.record('createBeneficialOwner', 'owner-and-director', {
    summary: 'A person who owns 40 % and controls the business',
    body: { customerId, ...OWNER_OF_NORTHWIND },
  });
  const params = { beneficialOwnerId: id };
  await recorder.record('getBeneficialOwner', 'owner', { summary: 'A beneficial owner', params });
  await recorder.record('listBeneficialOwners', 'of-a-business', {
    summary: 'Beneficial owners of a business',
    query: { customerId },
  });
  await recorder.record('updateBeneficialOwner', 'share', {
    summary: 'Change the share of an owner',
    params,
    body: { ownershipPercentage: 35 },
  });
  await recorder.record('updateCustomerById', 'business', {
    summary: 'Change the address and the countries of operation of a business',
    params: { customerId },
    body: {
      customerType: 'BUSINESS',
      address: { ...NORTHWIND.address, line1: '35 Cannery Row', postalCode: '98109' },
      businessInfo: { countriesOfOperation: ['US', 'CA'] },
    },
  });
  await recorder.record('createVerification', 'business', {
    summary: 'Submit a business',
    body: { customerId },
  });
  await recordDocuments(recorder, customerId);
}

async function recordDocuments(recorder: ExampleRecorder, customerId: string) {
  const file = { bytes: pdfFile(), name: 'certificate.pdf', type: 'application/pdf' };
  const form = (documentType: string) =>
    documentForm({ documentHolder: customerId, documentType, country: 'US' }, file);
  const { id } = await recorder.record('uploadDocument', 'certificate', {
    summary: 'A certificate of incorporation',
    body: form('CERTIFICATE_OF_INCORPORATION'),
  });
  const params = { documentId: id };
  await recorder.record('getDocument', 'certificate', { summary: 'A document', params });
  await recorder.record('listDocuments', 'of-a-business', {
    summary: 'Documents of a business',
    query: { documentHolder: customerId },
  });
  await recorder.record('replaceDocument', 'certificate', {
    summary: 'Replace a document that was rejected',
    params,
    body: documentForm({ documentType: 'CERTIFICATE_OF_INCORPORATION', country: 'US' }, file),
  });
  await recorder.record('deleteDocument', 'deleted', { summary: 'Delete a document', params });
}

async function recordContacts(recorder: ExampleRecorder) {
  const { id: customerId } = await createPerson(recorder, EMIL);
  const params = { customerId };
  const body = { code: '123456' };
  await recorder.record('sendCustomerEmailVerification', 'sent', {
    summary: 'Send a code by e-mail',
    params,
  });
  await recorder.record('confirmCustomerEmailVerification', 'verified', {
    summary: 'The code of the sandbox',
    params,
    body,
  });
  await recorder.record('sendCustomerPhoneVerification', 'sent', {
    summary: 'Send a code by text message',
    params,
  });
  await recorder.record('confirmCustomerPhoneVerification', 'verified', {
    summary: 'The code of the sandbox',
    params,
    body,
  });
}

const COLUMNS =
  'umaAddress,platformCustomerId,customerType,fullName,birthDate,' +
  'addressLine1,city,state,postalCode,country';
const csvOf = (domain: string) => `${COLUMNS}
hedy@${domain},p-1,INDIVIDUAL,Hedy Larsson,1990-11-09,1 Main St,Austin,TX,78701,US
rosa@${domain},p-2,INDIVIDUAL,Rosa Ferrari,25.07.1990,,Austin,TX,78701,US
`;

async function recordImports(recorder: ExampleRecorder) {
  const { body: config } = await recorder.app.call('GET', '/config');
  const file = {
    bytes: Buffer.from(csvOf(config.umaDomain)),
    name: 'customers.csv',
    type: 'text/csv',
  };
  const { jobId } = await recorder.record('uploadCustomersCsv', 'two-rows', {
    summary: 'A file with two customers, one of them invalid',
    body: documentForm({}, file),
  });
  await recorder.app.advance(60_000);
  await recorder.record('getBulkCustomerImportJob', 'completed', {
    summary: 'A completed import with one error',
    params: { jobId },
  });
}

async function recordInvitations(recorder: ExampleRecorder) {
  const { umaAddress } = await createPerson(recorder);
  const body = { inviterUma: umaAddress, firstName: 'Mateo' };
  const firstInvitation = await recorder.record('createInvitation', 'with-a-gift', {
    summary: 'Invite a person and announce 25.00 USD',
    body: { ...body, amountToSend: 25_00 },
  });
  const params = { invitationCode: firstInvitation.code as string };
  await recorder.record('getInvitation', 'pending', { summary: 'A pending invitation', params });
  await recorder.record('claimInvitation', 'claimed', {
    summary: 'The invitee has an address',
    params,
    body: { inviteeUma: '$mateo@wallet.example' },
  });
  const secondInvitation = await recorder.record('createInvitation', 'plain', {
    summary: 'Invite a person',
    body,
  });
  await recorder.record('cancelInvitation', 'cancelled', {
    summary: 'Cancel an invitation',
    params: { invitationCode: secondInvitation.code },
  });
}

describe('examples of customers', () => {
  examples('customers', {
    recordIndividuals,
    recordVerifications,
    recordBusinesses,
    recordContacts,
    recordImports,
    recordInvitations,
  });
});
