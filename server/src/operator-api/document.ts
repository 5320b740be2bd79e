// The OpenAPI document of the operator API.
import type { Naming } from '../catalog/naming.ts';
import type { DocumentHead } from '../http/document/head.ts';
import { readOperatorExamples } from '../http/examples.ts';
import { openApiSteps } from '../http/openapi.ts';
import { OPERATOR_BASE_PATH } from '../http/route.ts';
import { OPERATOR_ERROR_GUIDE } from './error-guide.ts';
import { OPERATOR_OPERATIONS } from './index.ts';

/** Tag → its description, in the order of the document. */
const TAGS: Readonly<Record<string, string>> = {
  'Sign-In': 'Sign-in of users, and registration of the first sign-in method.',
  Session: "The caller's session and sign-in methods.",
  Users: 'People who operate the installation, and their sessions.',
  Operators: 'Tokens of operators and their roles.',
  Approvals: 'Changes that a second operator must approve.',
  Audit: 'Records of changes and accesses by operators.',
  Search: 'Search over all kinds of resources.',
  Metrics: 'An overview of the installation, and payment metrics for charts.',
  Changes: 'A stream of events and changes.',
  System: 'The installation: versions, database and processes.',
  Payments: 'Payments and quotes of all platforms.',
  Platforms: 'Platforms, their settings, their limits and their card programs.',
  Sandbox: 'Clocks, fixtures and resets of sandbox platforms.',
  'API Tokens': 'Credentials of platforms.',
  'Signing Keys': 'Keys that sign webhooks, and their rotation.',
  Webhooks: 'Events and their deliveries to platforms.',
  Requests: 'Recorded requests of platforms.',
  Jobs: 'Background work of the server.',
  Messages: 'E-mails and text messages.',
  Imports: 'Imports of customers from files.',
  Documents: 'Documents of customers, for review.',
  Deposits: 'Held deposits, and deposits from bank statements.',
  Payouts: 'Manual payouts, direct debits and refunds.',
  Providers: 'Providers that execute transfers, routes that select them, and their messages.',
  Reconciliation: 'Days, statements and differences of providers.',
  Suspense: 'Funds in suspense and shortfalls.',
  Accounts: 'Internal accounts, their transitions and funding details.',
  Ledger: 'Ledger verification, and postings.',
  Exports: 'Accounting exports by day.',
  Stablecoins: 'Stablecoins of platforms, mints and burns.',
  Verifications: 'Manual identity verification of customers and beneficial owners.',
  'Strong Customer Authentication': 'Lockouts, events and lost factors of customers.',
  Customers: 'Customers of all platforms, search by personal data, export and erasure.',
  Cards: 'Cards, their payments and decisions.',
  'External Accounts': 'Checks and reviews of external accounts.',
  Agents: 'Agents that act for customers.',
  'Embedded Wallets': 'Credentials, authorizations and recoveries of wallets.',
};

const HEAD: DocumentHead = {
  openapi: '3.1.0',
  info: {
    title: 'Railhead operator API',
    version: 'v1',
    description:
      'API for the operators of an installation. Most commands of `railhead-server` are ' +
      'operations. Roles grant permissions to operators. Each change is recorded.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: OPERATOR_BASE_PATH }],
  tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
  securitySchemes: () => ({
    OperatorAuth: {
      type: 'http',
      scheme: 'bearer',
      description:
        'Token of an operator, from `createOperatorToken` or `railhead-server operator-token create`.',
    },
    OperatorSession: {
      type: 'apiKey',
      in: 'cookie',
      name: 'operator-session',
      description:
        'Session of a user. The cookie `operator-device`, which identifies the browser, is also ' +
        'required. On an https server, the names of both cookies have the prefix `__Host-`. Requests ' +
        'other than `GET` also need the header `X-CSRF-Token`.',
    },
  }),
  errorGuide: OPERATOR_ERROR_GUIDE,
};

/**
 * The document as plain JSON, generated one operation or named schema per step. Reads the examples, so
 * call it only when the document is requested.
 */
export const operatorOpenApiSteps = (naming: Naming) =>
  openApiSteps(
    OPERATOR_OPERATIONS.map(({ contract }) => contract),
    [],
    naming,
    readOperatorExamples(),
    HEAD,
  );
