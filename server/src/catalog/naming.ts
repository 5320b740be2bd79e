// Names with a service name prefix. The code always uses `Service`; an operator who replaces a
// branded service sets the prefix of that brand, and its clients find their headers, codes and
// fields. The names are listed, because others such as SERVICE_UNAVAILABLE contain the text by
// coincidence.

/** Neutral names, by the notation of the prefix. */
const NAMES = {
  /** In the notation of the setting. */
  title: [
    'Service-Wallet-Signature',
    'X-Service-Signature',
    'requestStablecoinServiceEnablement',
    'StablecoinServiceInternalBurnSource',
    'StablecoinServiceInternalFundingSource',
    'StablecoinServiceOperationsStatus',
  ],
  /** In capitals. */
  upper: [
    'SERVICE_SWITCH_ERROR',
    'SERVICE_INTERNAL_ACCOUNT',
    'CLOSED_BY_SERVICE',
    'STABLECOIN_SERVICE_ENABLEMENT_NOT_REQUESTABLE',
    'STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED',
  ],
  /** With a lower-case first letter. */
  camel: [
    'serviceApiMultiplier',
    'serviceApiFixedFee',
    'serviceApiVariableFeeRate',
    'serviceApiVariableFeeAmount',
    'serviceOperationsStatus',
  ],
  /** In lower case, in paths. */
  lower: ['request-service-enablement'],
} as const;

export interface Naming {
  readonly word: string;
  /** Header of a wallet's stamp. */
  readonly walletSignatureHeader: string;
  /** Header of a webhook's signature. */
  readonly webhookSignatureHeader: string;
  /** An error code with the prefix; other texts are unchanged. */
  code(neutral: string): string;
  /** Any listed name with the prefix; other texts are unchanged. */
  wire(neutral: string): string;
  /** A path with the prefix in the listed names among its segments. */
  path(neutral: string): string;
  /** A text with the prefix in the listed names among its words. */
  text(neutral: string): string;
  /** The neutral name for one with the prefix; other texts are unchanged. */
  neutral(wire: string): string;
  /**
   * An outgoing body or document: listed names among keys and texts get the prefix, at any depth.
   */
  toWire(value: unknown): unknown;
  /** An incoming body: listed names with the prefix become neutral. */
  fromWire(value: unknown): unknown;
}

/** A prefix consists of letters and digits and starts with a capital: `Acme`, `AcmePay`. */
export const isServiceWord = (word: string): boolean => /^[A-Z][A-Za-z0-9]{0,31}$/.test(word);

/** The names with one prefix. Throws RangeError for an invalid prefix. */
export function namingFor(word: string): Naming {
  if (!isServiceWord(word)) throw new RangeError(`not a service word: ${word}`);
  const camelWord = word.charAt(0).toLowerCase() + word.slice(1);
  const pairs: [string, string][] = [
    ...NAMES.title.map((name): [string, string] => [name, name.replace('Service', word)]),
    ...NAMES.upper.map((name): [string, string] => [
      name,
      name.replace('SERVICE', word.toUpperCase()),
    ]),
    ...NAMES.camel.map((name): [string, string] => [name, name.replace('service', camelWord)]),
    ...NAMES.lower.map((name): [string, string] => [
      name,
      name.replace('service', word.toLowerCase()),
    ]),
  ];
  const out = new Map(pairs);
  const back = new Map(pairs.map(([neutral, wire]): [string, string] => [wire, neutral]));
  const wire = (neutral: string) => out.get(neutral) ?? neutral;
  const neutral = (text: string) => back.get(text) ?? text;
  // With the default prefix bodies are not traversed.
  const same = word === 'Service';
  return {
    word,
    walletSignatureHeader: wire('Service-Wallet-Signature'),
    webhookSignatureHeader: wire('X-Service-Signature'),
    code: wire,
    wire,
    path: (path) => path.split('/').map(wire).join('/'),
    text: (text) => (same ? text : text.replaceAll(/[\w-]+/g, wire)),
    neutral,
    toWire: (value) => (same ? value : renamed(value, wire)),
    fromWire: (value) => (same ? value : renamed(value, neutral)),
  };
}

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (typeof value === 'string') return rename(value);
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [rename(key), renamed(item, rename)]),
  );
}
