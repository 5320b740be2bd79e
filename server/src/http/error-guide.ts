// Cause and remedy of each error code, for the API references and docs/errors.md.
import type { Code } from '../kernel/fault.ts';

export interface Guide {
  /** Cause of the error. */
  readonly cause: string;
  /** Next step of the client. */
  readonly remedy: string;
}

export const guide = (cause: string, remedy: string): Guide => ({ cause, remedy });

/** Remedy for an ID that has no resource of the platform. */
export const CHECK_ID =
  'Check the ID, and that the credentials belong to the platform that owns it.';
const RETRY = 'Repeat the request later.';
const REPORT_ERROR = 'Report the error to the provider of the address. Repeat the request later.';
const REVOKE_IT = 'Use the existing credential, or revoke it first.';
const BAD_REPLY = "The receiver's provider sent a reply that cannot be used.";

const REQUESTS = {
  INVALID_INPUT: guide(
    'The body, query or a header does not match the schema, or a field has an invalid value.',
    'Correct the fields in `details.errors` and send the request again.',
  ),
  UNAUTHORIZED: guide(
    'The credential is missing, unknown or revoked. For wallets: the signing key has no active ' +
      'session.',
    'Send valid credentials, or sign in to the wallet again.',
  ),
  FORBIDDEN: guide(
    "The token lacks the permission of this operation, or the agent's policy does not allow it.",
    'Use a token with the permission named in the reference, or change the policy.',
  ),
  NOT_FOUND: guide(
    'The resource or the path does not exist, or another platform owns the resource.',
    'Check the ID, the credentials, and the path with its version prefix.',
  ),
  METHOD_NOT_ALLOWED: guide(
    'The path exists but does not support this method.',
    'Use a method listed in the `Allow` header.',
  ),
  REQUEST_TIMEOUT: guide(
    'The request did not arrive completely within 60 seconds.',
    'Send the whole request without pauses.',
  ),
  EXPECTATION_FAILED: guide(
    'The `Expect` header has a value other than `100-continue`.',
    'Remove the header.',
  ),
  HEADERS_TOO_LARGE: guide(
    'The URL and headers of the request exceed 16 KiB.',
    'Shorten the URL, or send fewer or shorter headers.',
  ),
  CONFLICT: guide(
    'The state of the resource does not allow the request, a unique value is already in use, ' +
      'or an idempotency key was used with another request.',
    'Read the current state of the resource. Use a new idempotency key for a new request.',
  ),
  RATE_LIMITED: guide(
    'The client sent too many requests or made too many attempts.',
    'Wait for the number of seconds in `Retry-After`, then send the request again.',
  ),
  INTERNAL_ERROR: guide(
    'An unexpected error occurred on the server. The outcome is unknown.',
    'Send the request again with the same idempotency key. Report the error if it persists.',
  ),
  SERVICE_UNAVAILABLE: guide(
    'The database, the file storage or a provider is unavailable, or the database is busy.',
    'Send the request again with the same idempotency key after `Retry-After` seconds.',
  ),
  NOT_IMPLEMENTED: guide(
    'This server does not offer the function in this environment.',
    'Ask the operator to configure a provider, or use a function that is available.',
  ),
} as const;

const CUSTOMERS = {
  CUSTOMER_NOT_FOUND: guide('No customer has this ID.', CHECK_ID),
  CUSTOMER_DELETED: guide(
    'The customer was deleted.',
    'Register a new customer. A deleted customer cannot be restored.',
  ),
  USER_NOT_READY: guide(
    'The customer is not approved for payments.',
    'Complete the verification and wait for `CUSTOMER.KYC_APPROVED` or `CUSTOMER.KYB_APPROVED`.',
  ),
  USER_NOT_FOUND: guide(
    'No customer of the platform has this UMA address.',
    'Check `senderUmaAddress`.',
  ),
  UMA_ADDRESS_EXISTS: guide(
    'Another customer has or had this UMA address.',
    'Choose another address.',
  ),
  MISSING_MANDATORY_USER_INFO: guide(
    'Required data about the customer or the purpose of the payment is missing.',
    'Add the fields in `details.errors`, and send the request again.',
  ),
  END_USER_TERMS_NOT_ACCEPTED: guide(
    'The platform requires consent to the end-user terms, and no consent of the customer is recorded.',
    'Record the consent with `updateCustomerById`. `getEndUserTerms` returns the current version.',
  ),
  END_USER_TERMS_VERSION_NOT_FOUND: guide(
    'The version of the terms does not exist.',
    'Use the version that `getEndUserTerms` returns.',
  ),
  BULK_UPLOAD_JOB_NOT_FOUND: guide('No import has this ID.', CHECK_ID),
  VERIFICATION_NOT_FOUND: guide('No verification has this ID.', CHECK_ID),
  LINK_ENDED: guide(
    'The link has expired, was already used or was replaced.',
    'Request a new link. A link to a verification page is created with `createCustomerKycLink`.',
  ),
  INVITATION_NOT_FOUND: guide('No invitation has this code.', 'Check the code.'),
  INVITATION_ALREADY_CLAIMED: guide(
    'The invitation was already claimed.',
    'Create a new invitation.',
  ),
  INVITATION_CANCELLED: guide('The invitation was canceled.', 'Create a new invitation.'),
  INVITATIONS_NOT_CONFIGURED: guide(
    'Invitations are disabled for this platform.',
    'Ask the operator to enable invitations.',
  ),
  DOCUMENT_HOLDER_NOT_FOUND: guide(
    'No customer or beneficial owner has the ID in `documentHolder`.',
    CHECK_ID,
  ),
  DOCUMENT_ALREADY_EXISTS: guide(
    'The holder has a document of this type and side.',
    'Replace the document with `replaceDocument`.',
  ),
  LOW_QUALITY: guide('The image is unreadable or too small.', 'Upload a sharper or larger image.'),
  DATA_MISMATCH: guide(
    'The document does not match the data of the holder.',
    'Correct the data, or upload the matching document.',
  ),
  EXPIRED: guide('The document has expired.', 'Upload a valid document.'),
  SUSPECTED_FRAUD: guide('The document appears to be altered.', 'Upload an original document.'),
  UNSUITABLE_DOCUMENT: guide(
    'The document type is not accepted for this purpose, or the file is encrypted or unreadable.',
    'Upload a readable document of an accepted type, without a password.',
  ),
  INCOMPLETE: guide(
    'Pages, sides or the end of the file are missing.',
    'Upload the whole document.',
  ),
  WEBHOOK_ENDPOINT_NOT_SET: guide(
    'The platform has no webhook endpoint.',
    'Set `webhookEndpoint` with `updatePlatformConfig`.',
  ),
  WEBHOOK_DELIVERY_ERROR: guide(
    'The webhook endpoint could not be reached or did not respond within 30 seconds.',
    'Read `details.error`, correct the endpoint, then repeat the test.',
  ),
  TOKEN_NOT_FOUND: guide('No API token has this ID.', CHECK_ID),
  PLATFORM_NOT_FOUND: guide(
    "No platform has this ID, or the platform is not registered with the receiver's provider.",
    'Check the ID. To pay to a UMA address, ask the operator to register the platform with ' +
      'that provider.',
  ),
} as const;

const PAYMENTS = {
  ACCOUNT_NOT_FOUND: guide('No account has this ID.', CHECK_ID),
  QUOTE_NOT_FOUND: guide('No quote has this ID.', CHECK_ID),
  TRANSACTION_NOT_FOUND: guide('No transaction has this ID.', CHECK_ID),
  REFERENCE_NOT_FOUND: guide(
    'No payment or account expects funds under this reference.',
    'Check the reference, or identify the quote or the account by its ID instead.',
  ),
  QUOTE_EXPIRED: guide(
    'The quote was not executed before `expiresAt`. No funds were debited. Its pending payment ' +
      'becomes EXPIRED and emits `OUTGOING_PAYMENT.EXPIRED`.',
    'Create a new quote and execute it with a new `Idempotency-Key`. Its price can differ.',
  ),
  QUOTE_RATE_UNAVAILABLE: guide(
    'No current exchange rate exists for the two currencies.',
    'Repeat the request later. In production the operator configures the source of rates.',
  ),
  INSUFFICIENT_FUNDS: guide(
    'The available balance is less than the amount and its fees.',
    'Fund the account or lower the amount, then create a new request.',
  ),
  INVALID_AMOUNT: guide(
    'The amount does not match the payment, such as an invoice for another amount.',
    'Use the amount that the destination requires.',
  ),
  AMOUNT_OUT_OF_RANGE: guide(
    'The amount is outside the limits of the corridor, the platform or the receiver, or does not ' +
      'exceed the fees.',
    'Choose an amount within the limits that `getExchangeRates` or the payee discovery returns.',
  ),
  INVALID_CURRENCY: guide(
    'The currency is unknown or not enabled, is not supported by the account type, the receiver or ' +
      'REALTIME_FUNDING, or does not match the accounts of the payment.',
    'Enable the currency, or use a currency of both accounts. Use a quote to convert.',
  ),
  SELF_PAYMENT: guide(
    'Source and destination are the same account or customer.',
    'Choose another destination.',
  ),
  INVALID_BANK_ACCOUNT: guide(
    'The bank rejected the account, or its validation failed.',
    'Register the account again with corrected details.',
  ),
  BANK_ACCOUNT_VALIDATION_PENDING: guide(
    'The bank account is being validated.',
    'Wait for `EXTERNAL_ACCOUNT.STATUS_UPDATED`, then repeat the request.',
  ),
  DUPLICATE_EXTERNAL_ACCOUNT: guide(
    'The account is already registered for this customer or for the platform.',
    'Use the existing account. `listCustomerExternalAccounts` or ' +
      '`listPlatformExternalAccounts` returns it.',
  ),
  EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED: guide(
    'A payment above the equivalent of 1,000 EUR requires a proof of ownership of the wallet.',
    'Prove the ownership with `createExternalAccountOwnershipChallenge`, or with ' +
      '`createPlatformExternalAccountOwnershipChallenge` for an account of the platform.',
  ),
  TRANSACTION_SIZE_LIMIT_EXCEEDED: guide(
    'The amount exceeds the limit per payment.',
    'Split the payment, or ask the operator to raise the limit.',
  ),
  DAILY_VOLUME_LIMIT_EXCEEDED: guide(
    'The payment exceeds the daily limit of the platform.',
    'Repeat the request after midnight UTC, or ask the operator to raise the limit.',
  ),
  VELOCITY_LIMIT_EXCEEDED: guide(
    'The customer has started too many payments in the current hour.',
    'Repeat the request after the number of seconds in `Retry-After`.',
  ),
  DUPLICATE_PAY_REQUEST: guide(
    'The idempotency key was used for another payment.',
    'Use a new key for a new payment. Send the same key and body to repeat a request.',
  ),
  TRANSACTION_NOT_CANCELLABLE: guide(
    'The payment has not started, has settled or is being refunded.',
    'Read the transaction. If the payment has settled, ask the payee to return the funds.',
  ),
  TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL: guide(
    'The payment is not pending an approval.',
    'Read the transaction. The approval was decided already, or the time to decide has expired.',
  ),
  LOOKUP_REQUEST_NOT_FOUND: guide(
    'No payee discovery has this ID, or it has expired.',
    'Request the payee discovery again, and use the new `lookupId`.',
  ),
  LOOKUP_REQUEST_FAILED: guide(
    "The payee discovery failed at the receiver's provider, or the limits of the platform allow " +
      'no payment to the account.',
    'Repeat the request later, or change the limits with `updatePlatformConfig`.',
  ),
  QUOTE_REQUEST_FAILED: guide("The receiver's provider did not return a quote.", RETRY),
  SENDER_NOT_ACCEPTED: guide(
    "The receiver's provider rejects the sender, or sender data that the platform requires is missing.",
    'Choose another sender, or change `requiredCounterpartyFields` with `updatePlatformConfig`.',
  ),
  COUNTERPARTY_NOT_ALLOWED: guide(
    "Payments with the receiver's provider are not allowed.",
    'Choose a provider that `getAvailableUmaProviders` lists as allowed.',
  ),
  INVALID_UMA_ADDRESS: guide(
    'The value is not a UMA address, or the operation does not accept the address.',
    'Use the form `$name@domain`. `details.errors` states the accepted addresses.',
  ),
  UMA_NOT_FOUND: guide(
    'The UMA address does not exist or cannot receive payments.',
    'Check the address with the receiver.',
  ),
  INVALID_RECEIVER: guide(
    'The receiver cannot receive this payment, the status of the destination account does not allow ' +
      'payments, or the Lightning invoice is invalid, expired or already used.',
    'Choose another receiver, wait until the account is ACTIVE, or request a new invoice.',
  ),
  PAYMENT_URL_NOT_FOUND: guide("The receiver's payment address does not exist.", REPORT_ERROR),
  REQUEST_NOT_FOUND: guide(
    "The payment request is unknown to the receiver's provider.",
    'Request the payee discovery again, and create a quote with the new `lookupId`.',
  ),
  UNSUPPORTED_UMA_VERSION: guide("The receiver's provider uses another UMA version.", REPORT_ERROR),
  NO_COMPATIBLE_UMA_VERSION: guide('The providers support no common UMA version.', REPORT_ERROR),
  COUNTERPARTY_PUBKEY_FETCH_ERROR: guide(
    "The public keys of the receiver's provider could not be read.",
    RETRY,
  ),
  PAYREQ_REQUEST_FAILED: guide("The payment request to the receiver's provider failed.", RETRY),
  LNURLP_REQUEST_FAILED: guide("The payee discovery at the receiver's provider failed.", RETRY),
  INVALID_PAYREQ_RESPONSE: guide(BAD_REPLY, REPORT_ERROR),
  PARSE_PAYREQ_RESPONSE_ERROR: guide(BAD_REPLY, REPORT_ERROR),
  PARSE_LNURLP_RESPONSE_ERROR: guide(BAD_REPLY, REPORT_ERROR),
  CERT_CHAIN_INVALID: guide(
    "The certificates of the receiver's provider are invalid.",
    REPORT_ERROR,
  ),
  CERT_CHAIN_EXPIRED: guide("A certificate of the receiver's provider has expired.", REPORT_ERROR),
  INVALID_PUBKEY_FORMAT: guide(
    "A public key of the receiver's provider is malformed.",
    REPORT_ERROR,
  ),
  MISSING_REQUIRED_UMA_PARAMETERS: guide(
    "The reply of the receiver's provider lacks required parameters.",
    REPORT_ERROR,
  ),
  INVALID_TIMESTAMP: guide(
    "The signed time of the receiver's provider is too old or in the future.",
    REPORT_ERROR,
  ),
  INVALID_NONCE: guide("The receiver's provider repeated a nonce.", RETRY),
  INVALID_REQUEST_FORMAT: guide(
    "The receiver's provider rejected the format of the request.",
    REPORT_ERROR,
  ),
  INVALID_SIGNATURE: guide("The signature of the receiver's provider is invalid.", REPORT_ERROR),
  UNRECOGNIZED_MANDATORY_PAYEE_DATA_KEY: guide(
    "The receiver's provider requires a field that is not supported.",
    'Choose another destination.',
  ),
  SERVICE_SWITCH_ERROR: guide('The payment network failed.', RETRY),
} as const;

const WALLETS = {
  AUTH_METHOD_NOT_FOUND: guide('No credential has this ID.', CHECK_ID),
  SESSION_NOT_FOUND: guide('No session has this ID.', CHECK_ID),
  WALLET_NOT_PROVISIONED: guide(
    'The wallet is being created.',
    'Wait for `INTERNAL_ACCOUNT.STATUS_UPDATED`, then repeat the request.',
  ),
  WALLET_SIGNATURE_MISSING: guide(
    'The request has a `Request-Id` or executes a quote of a wallet, but has no signature.',
    'Sign `payloadToSign` and send the stamp in `Service-Wallet-Signature`.',
  ),
  WALLET_SIGNATURE_MALFORMED: guide(
    'The signature header is not a stamp.',
    'Send the base64url JSON with public key, scheme and signature.',
  ),
  WALLET_SIGNATURE_BODY_MISMATCH: guide(
    'The signed request has a different body.',
    'Send the body of the first request unchanged.',
  ),
  WALLET_SIGNATURE_INVALID: guide(
    'The stamp is invalid, or its key has no active session.',
    'Sign `payloadToSign` byte for byte with the key of an active session.',
  ),
  REQUEST_ID_MISSING: guide(
    'The request has a signature or a passkey assertion but no `Request-Id`.',
    'Send the `requestId` of the challenge.',
  ),
  EMAIL_OTP_CREDENTIAL_ALREADY_EXISTS: guide('The wallet has an e-mail credential.', REVOKE_IT),
  SMS_OTP_CREDENTIAL_ALREADY_EXISTS: guide('The wallet has a text message credential.', REVOKE_IT),
  PASSKEY_CREDENTIAL_ALREADY_EXISTS: guide('The wallet has this passkey.', 'Use another passkey.'),
  EMAIL_OTP_EMAIL_ALREADY_EXISTS: guide(
    'Another wallet receives its codes at this e-mail address.',
    'Choose another address.',
  ),
  SMS_OTP_PHONE_NUMBER_ALREADY_EXISTS: guide(
    'Another wallet receives its codes at this number.',
    'Choose another number.',
  ),
  EMAIL_OTP_CREDENTIAL_SET_CHANGED: guide(
    'The e-mail credentials changed after the challenge.',
    'Send the request again without a signature to get a new challenge.',
  ),
  SMS_OTP_CREDENTIAL_SET_CHANGED: guide(
    'The text message credentials changed after the challenge.',
    'Send the request again without a signature to get a new challenge.',
  ),
  EMAIL_OTP_CREDENTIAL_SYNC_FAILED: guide(
    'The custodian did not accept the new e-mail address. The wallet is unchanged.',
    RETRY,
  ),
  SCA_SESSION_REQUIRED: guide(
    'Strong customer authentication applies and the customer is not logged in.',
    'Log in with `startScaLogin` and `completeScaLogin`, then repeat the request.',
  ),
  ACCOUNT_LOCKED: guide(
    'The customer is locked or suspended after too many failed attempts.',
    'Wait until `details.lockedUntil`, or report a password reset with `recordSecurityEvent`.',
  ),
  PASSKEY_ALREADY_ENROLLED: guide(
    'The customer has a passkey.',
    'Delete the passkey first, or start a reset if it was lost.',
  ),
  BENEFICIARY_TRUSTED: guide(
    'The customer trusts this account.',
    'Withdraw the trust with `startBeneficiaryUntrust`, then delete the account.',
  ),
} as const;

const CARDS_AND_COINS = {
  CARDHOLDER_KYC_NOT_APPROVED: guide(
    'The cardholder is not approved.',
    'Complete the verification of the customer first.',
  ),
  FUNDING_SOURCE_INELIGIBLE: guide(
    'The account cannot fund a card.',
    'Use ACTIVE accounts of the cardholder, all in USD or all in USDB.',
  ),
  CARD_LIMIT_REACHED: guide(
    'The cardholder or platform has the maximum number of open cards.',
    'Close a card, or ask the operator to raise the limit.',
  ),
  CARD_ALREADY_CLOSED: guide('The card is closed.', 'Issue a new card.'),
  CARD_NOT_MUTABLE: guide('A closed card cannot be changed.', 'Issue a new card.'),
  INVALID_STATE_TRANSITION: guide(
    'The card cannot change to this state from its current state.',
    'Read the card. Wait for `CARD.STATE_CHANGE` while it is processing.',
  ),
  STABLECOIN_NOT_FOUND: guide('No stablecoin has this ID.', CHECK_ID),
  STABLECOIN_OPERATION_NOT_FOUND: guide('No mint or burn has this ID.', CHECK_ID),
  STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND: guide('No provider account has this ID.', CHECK_ID),
  STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND: guide('No external account has this ID.', CHECK_ID),
  STABLECOIN_PROVIDER_ACCOUNT_INVALID: guide(
    'The provider rejects the credentials of the provider account.',
    'Link the provider account again with valid credentials.',
  ),
  STABLECOIN_PROVIDER_ACCOUNT_REVOKED: guide(
    'The provider has revoked the credentials of the provider account.',
    'Link the provider account again with valid credentials.',
  ),
  STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED: guide(
    'Several provider accounts are linked.',
    'Select one with `stablecoinProviderAccountId`.',
  ),
  STABLECOIN_AMOUNT_NOT_REPRESENTABLE: guide(
    'The amount is not a whole number of cents.',
    'Round the amount to whole cents.',
  ),
  STABLECOIN_BURN_SOURCE_NOT_SUPPORTED: guide(
    'Burning from an internal account is not supported.',
    'Use an external account as the source.',
  ),
  STABLECOIN_EXTERNAL_ACCOUNT_LINK_FAILED: guide(
    'The provider could not link the bank account.',
    'Check the account, or use another account.',
  ),
  STABLECOIN_EXTERNAL_ACCOUNT_LINK_METHOD_REQUIRED: guide(
    'The provider needs a method to link the bank account.',
    'Complete the link at the provider.',
  ),
  STABLECOIN_EXTERNAL_ACCOUNT_NOT_LINKED: guide(
    'The bank account is not linked at the provider.',
    'Link the account at the provider first.',
  ),
  STABLECOIN_EXTERNAL_ACCOUNT_NOT_SUPPORTED: guide(
    'The status, type or rails of the external account do not allow this use.',
    'Use an ACTIVE account: USD_ACCOUNT with the requested rail, or SPARK_WALLET for tokens.',
  ),
  STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_FAILED: guide(
    'The link at the provider failed.',
    'Repeat the link at the provider.',
  ),
  STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_REQUIRED: guide(
    'The bank account must be linked on the site of the provider.',
    'Complete the link on that site, then repeat the request.',
  ),
  STABLECOIN_NOT_PROVISIONED: guide(
    'The provider has not provisioned the stablecoin yet.',
    'Repeat the request when `getStablecoin` shows `PROVISIONED`.',
  ),
  STABLECOIN_OPERATION_NOT_SUPPORTED: guide(
    'The funding source or destination is not supported.',
    'Use another funding source or destination.',
  ),
  STABLECOIN_PROVIDER_ERROR: guide(
    'The provider rejected the request, such as a burn above the circulating supply.',
    'Read `reason`. Correct the request or ask the provider.',
  ),
  STABLECOIN_PROVIDER_SOURCE_NOT_LINKED: guide(
    'The platform has no balance account at the provider.',
    'Open a balance account with the provider, or use another source.',
  ),
  STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED: guide(
    'Operations from internal accounts are not enabled for the stablecoin.',
    'Request enablement with `requestStablecoinServiceEnablement`.',
  ),
  STABLECOIN_SERVICE_ENABLEMENT_NOT_REQUESTABLE: guide(
    'Enablement was requested already, or cannot be requested in this state.',
    'Read `serviceOperationsStatus` of the stablecoin.',
  ),
  STABLECOIN_VERIFICATION_FAILED: guide(
    'The provider could not verify the credentials or the token.',
    'Check the credentials of the provider account and the identifiers of the token.',
  ),
  STABLECOIN_SYMBOL_ALREADY_EXISTS: guide(
    'Another stablecoin has this symbol.',
    'Register a token with another symbol.',
  ),
  STABLECOIN_TOKEN_IDENTIFIER_ALREADY_EXISTS: guide(
    'The token is registered already.',
    'Use the existing stablecoin. `listStablecoins` returns it.',
  ),
} as const;

export const ERROR_GUIDE: Readonly<Record<Code, Guide>> = {
  ...REQUESTS,
  ...CUSTOMERS,
  ...PAYMENTS,
  ...WALLETS,
  ...CARDS_AND_COINS,
};
