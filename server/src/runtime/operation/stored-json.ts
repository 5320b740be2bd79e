// Stored form of JSON text. Frequent names, prefixes of IDs and currencies are replaced with tokens of one
// or two bytes, which reduces events and idempotent replies by about 50 %. A token begins with a control
// character, which JSON text never contains. The stored form of other text, such as sealed text, is the
// text itself.

/**
 * The texts that are replaced. A stored token is the position of its text in this list, so entries may only
 * be appended. The names `id`, `transactionId` and `correlationId` have no token, because the erasure of
 * personal data searches for them in SQL.
 */
export const STORED_TEXTS: readonly string[] = [
  // The tokens of the first 24 texts need one byte.
  ',"createdAt":"20',
  ',"updatedAt":"20',
  ',"accountId":"InternalAccount:',
  ',"currency":',
  '{"code":"USD","name":"United States Dollar","symbol":"$","decimals":2}',
  '{"code":"EUR","name":"Euro","symbol":"€","decimals":2}',
  ',"status":',
  '{"status":',
  ',"customerId":"Customer:',
  ',"source":{"sourceType":',
  ',"destination":{"destinationType":',
  ',"exchangeRate":',
  ',"rateDetails":{"counterpartyMultiplier":',
  ',"counterpartyFixedFee":',
  ',"serviceApiMultiplier":',
  ',"serviceApiFixedFee":',
  ',"serviceApiVariableFeeRate":',
  ',"serviceApiVariableFeeAmount":',
  ',"sentAmount":{"amount":',
  ',"receivedAmount":{"amount":',
  ',"settledAt":"20',
  ',"balance":{"amount":',
  ',"totalBalance":{"amount":',
  ',"name":',
  // The tokens of the other texts need two bytes.
  '{"type":',
  ',"type":',
  ',"direction":',
  ',"platformCustomerId":',
  ',"quoteId":"Quote:',
  ',"fees":',
  ',"reconciliationInstructions":{"reference":',
  ',"platformFees":',
  ',"paymentRail":null',
  ',"paymentRail":',
  ',"railSelectionMode":null',
  ',"railSelectionMode":',
  ',"expectedSettlementAt":null',
  ',"expectedSettlementAt":"20',
  ',"settlementTimelineSeconds":null',
  ',"settlementTimelineSeconds":',
  ',"expiresAt":"20',
  ',"sendingCurrency":',
  ',"receivingCurrency":',
  ',"totalSendingAmount":',
  ',"totalReceivingAmount":',
  ',"feesIncluded":',
  ',"platformFeesIncluded":',
  ',"paymentInstructions":',
  ',"lockedCurrencySide":',
  ',"lockedCurrencyAmount":',
  ',"accountId":"ExternalAccount:',
  ',"counterpartyInformation":',
  ',"counterpartyTransactionId":"Transaction:',
  ',"description":',
  ',"fundingPaymentInstructions":',
  ',"instructionsNotes":',
  ',"isPlatformAccount":',
  '{"accountOrWalletInfo":{"accountType":',
  ',"accountNumber":',
  ',"routingNumber":',
  ',"bankAddress":',
  ',"bankName":',
  ',"accountHolderName":',
  ',"paymentRails":',
  ',"reference":',
  ',"swiftCode":',
  ',"iban":',
  ',"failureReason":',
  ',"refund":',
  ',"agentId":"Agent:',
  ',"amount":',
  ',"customerId":"PlatformConfig:',
  '{"code":"GBP","name":"British Pound","symbol":"£","decimals":2}',
  '{"code":"USDC","name":"USD Coin","symbol":"USDC","decimals":6}',
];

const ONE_BYTE_TOKENS = 24;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** The token of the text at this position of the list. */
function tokenAt(index: number): string {
  if (index < ONE_BYTE_TOKENS) return String.fromCharCode(8 + index);
  const offset = index - ONE_BYTE_TOKENS;
  const leadingCode = 1 + Math.floor(offset / LETTERS.length);
  return String.fromCharCode(leadingCode) + LETTERS[offset % LETTERS.length];
}

const TOKENS = new Map(STORED_TEXTS.map((text, index) => [text, tokenAt(index)]));
const TEXTS = new Map(STORED_TEXTS.map((text, index) => [tokenAt(index), text]));

/** Matches a currency, or a name with the beginning of its value. */
const REPLACEABLE =
  /\{"code":"[^{}]*\}|[,{]"[A-Za-z]+":(?:\{(?!"code")"[A-Za-z]+":|"20|"[A-Z][A-Za-z]+:|null)?/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: tokens begin with control characters.
const TOKEN = /[\x08-\x1f]|[\x01-\x07][A-Za-z0-9]/g;

function tokenOf(match: string): string {
  const token = TOKENS.get(match);
  if (token !== undefined) return token;
  // Without a token of the complete text, only the name may have a token.
  const name = match.slice(0, match.indexOf(':') + 1);
  const nameToken = TOKENS.get(name);
  return nameToken === undefined ? match : nameToken + match.slice(name.length);
}

function textOf(token: string): string {
  const text = TEXTS.get(token);
  if (text === undefined)
    throw new Error('a newer version has stored this JSON. Use that version.');
  return text;
}

/** The stored form of JSON text. */
export const packJson = (text: string): string => text.replace(REPLACEABLE, tokenOf);

/** JSON text from its stored form. */
export const unpackJson = (storedText: string): string => storedText.replace(TOKEN, textOf);
