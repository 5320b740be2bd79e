// Examples of the operator API: customers, their identity checks, documents, imports and strong
// customer authentication.
import { describe } from 'vitest';
import { createCustomer, ok } from '../../kit/app/fixtures.ts';
import { csvFile, importHarness } from '../../kit/customers/imports.ts';
import { documentForm, pdfFile } from '../../kit/http/documents.ts';
import { AMARA, EMIL } from '../../kit/http/example-people.ts';
import { type OperatorRecorder, operatorExamples } from '../../kit/operator/examples.ts';
import { loginFixture } from '../../kit/sca/login.ts';
import { createPhoneVerifiedCustomer } from '../../kit/sca/strong-customers.ts';

const IDENTITY = { idType: 'SSN', identifier: '123-45-6789' };

/** A person with a passport whose identity check needs a decision. */
async function createPersonInReview({ service }: OperatorRecorder, fullName: string) {
  const { app, callOptions } = service;
  const person = await createCustomer(app, callOptions, { ...AMARA, ...IDENTITY, fullName });
  const fields = {
    documentHolder: person.id,
    documentType: 'PASSPORT',
    country: 'US',
    documentNumber: '340020013',
    issuingAuthority: 'Department of State',
  };
  const form = documentForm(fields, { bytes: pdfFile(), name: 'passport.pdf' });
  const document = ok(await app.call('POST', '/documents', form, callOptions), 201);
  ok(await app.call('POST', '/verifications', { customerId: person.id }, callOptions), 200);
  await app.advance(60_000);
  return { subjectId: person.id as string, documentId: document.id as string };
}

async function recordVerifications(recorder: OperatorRecorder) {
  const { service, record } = recorder;
  const [approved, rejected, incomplete] = [
    await createPersonInReview(recorder, 'Amara Okafor'),
    await createPersonInReview(recorder, 'Noah Fischer'),
    await createPersonInReview(recorder, 'Mia Larsson'),
  ];
  await record('listVerificationsForReview', 'of-platform', {
    summary: 'Identity checks of a platform that need a decision',
    query: { platformId: service.platform.id, limit: '2' },
  });
  await record('getVerificationCase', 'individual', {
    summary: 'The identity check of an individual',
    params: { subjectId: approved.subjectId },
  });
  await record('listDocumentsForReview', 'passport', {
    summary: 'The documents of an individual',
    params: { customerId: approved.subjectId },
  });
  await record('getDocumentContent', 'pdf', {
    summary: 'The file of a document, encoded as base64',
    params: { documentId: approved.documentId },
  });
  await record('approveVerification', 'individual', {
    summary: 'Approve an individual',
    params: { subjectId: approved.subjectId },
    body: { reason: 'The passport agrees with the data' },
  });
  await record('rejectVerification', 'sanctioned', {
    summary: 'Reject a sanctioned individual',
    params: { subjectId: rejected.subjectId },
    body: {
      findings: [{ type: 'APPLICANT_SANCTIONED' }],
      reason: 'The person is on a sanctions list',
    },
  });
  const { subjectId, documentId } = incomplete;
  await record('requestVerificationCorrections', 'field-and-document', {
    summary: 'Request a field and another document',
    params: { subjectId },
    body: {
      findings: [
        { type: 'INVALID_FIELD', field: 'birthDate', reason: 'Differs from the passport' },
        { type: 'INVALID_DOCUMENT', resourceId: documentId, reason: 'Not readable' },
      ],
      reason: 'The scan is not readable',
    },
  });
}

async function recordImports({ service, record }: OperatorRecorder) {
  const { app } = service;
  const { importFile, personRow } = await importHarness(app);
  const { id } = await importFile(
    csvFile(
      personRow('customer-2001', { fullName: 'Amara Okafor' }),
      personRow('customer-2002', { fullName: 'Noah Fischer', birthDate: 'unknown' }),
    ),
  );
  const params = { importId: id };
  await record('listImports', 'of-platform', {
    summary: 'Imports of a platform',
    query: { platformId: app.platform.id },
  });
  await record('getImport', 'completed', {
    summary: 'A completed import with a rejected row',
    params,
  });
  await record('listImportErrors', 'invalid-row', {
    summary: 'A row with an invalid date',
    params,
  });
}

async function recordStrongAuthentication({ service, record }: OperatorRecorder) {
  const { app } = service;
  const { id: customerId } = await createPhoneVerifiedCustomer(app, {}, EMIL);
  const params = { customerId };
  const startReset = async () => {
    await app.advance(60_000);
    const path = `/sca/factors/reset?customerId=${customerId}`;
    const { resetId } = ok(await app.call('POST', path, { factor: 'SMS_OTP' }), 201);
    // The sandbox completes the identity check, which an operator performs in production.
    const text = "update sca_resets set status = 'PENDING_REVIEW' where id = $1";
    await app.runtime.db.query(text, [resetId]);
    return { resetId };
  };
  const rejected = await startReset();
  await record('listFactorResets', 'of-platform', {
    summary: 'Lost factors of a platform that need a decision',
    query: { platformId: app.platform.id },
  });
  await record('rejectFactorReset', 'another-person', {
    summary: 'Reject the reset of a factor',
    params: rejected,
    body: { reason: 'The video shows another person' },
  });
  await record('passFactorReset', 'identified', {
    summary: 'Permit the removal of a lost factor after an identity check',
    params: await startReset(),
    body: { reason: 'Identified in a video call' },
  });
  ok(await loginFixture(app).fail(customerId), 200);
  await record('getCustomerAuthentication', 'failed-attempt', {
    summary: 'A customer with a failed attempt and an open reset',
    params,
  });
  await record('unlockCustomer', 'identified', {
    summary: 'Remove the lockout after an identity check',
    params,
    body: { reason: 'Identified in a video call' },
  });
  await record('listAuthenticationEvents', 'latest', {
    summary: 'The latest events of a customer',
    params,
    query: { limit: '3' },
  });
}

async function recordCustomers({ service, record }: OperatorRecorder) {
  const { app, callOptions } = service;
  const person = await createCustomer(app, callOptions, {
    ...AMARA,
    fullName: 'Olivia Santos',
    email: 'olivia.santos@example.com',
  });
  const params = { customerId: person.id as string };
  for (const [name, field, value] of [
    ['email', 'email', 'olivia.santos@example.com'],
    ['name', 'name', 'Olivia Santos'],
  ] as const)
    await record('searchCustomers', name, {
      summary: `Search by ${field === 'email' ? 'e-mail address' : 'complete name'}`,
      body: { field, value },
    });
  await record('listCustomersOfPlatforms', 'of-platform', {
    summary: 'The latest customers of a platform',
    query: { platformId: service.platform.id, limit: '2' },
  });
  await record('getCustomerOfPlatform', 'individual', {
    summary: 'The state of an individual',
    params,
  });
  await record('revealCustomerNames', 'one', {
    summary: 'The name of a customer',
    query: { customerIds: params.customerId },
  });
  await record('exportCustomerData', 'first-page', {
    summary: 'The first page of the data of a customer',
    params,
    query: { limit: '1' },
  });
  ok(await app.call('DELETE', `/customers/${params.customerId}`, undefined, callOptions), 200);
  await record('eraseCustomer', 'requested', {
    summary: 'Erase the personal data of a deleted customer',
    params,
    body: { confirm: 'ERASE', reason: 'Requested by the customer' },
  });
  await record('listErasures', 'of-platform', {
    summary: 'Erasures of a platform',
    query: { platformId: service.platform.id },
  });
}

describe('examples of the operator API: customers', () => {
  operatorExamples('customers', {
    recordVerifications,
    recordImports,
    recordStrongAuthentication,
    recordCustomers,
  });
});
