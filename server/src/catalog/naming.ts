// The names that carry a maker's word. Inside, the code always says `Service`; an operator who
// replaces a branded service sets that brand's word, and its clients find the headers, codes and
// fields they know. Names are listed, not guessed: SERVICE_UNAVAILABLE or OTHER_SERVICES hold the
// word by chance and stay.

/** Neutral names, by the way their word is written. */
const NAMES = {
  /** Written as the word is. */
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
  /** With a small first letter. */
  camel: [
    'serviceApiMultiplier',
    'serviceApiFixedFee',
    'serviceApiVariableFeeRate',
    'serviceApiVariableFeeAmount',
    'serviceOperationsStatus',
  ],
  /** All small, in paths. */
  lower: ['request-service-enablement'],
} as const;

export interface Naming {
  readonly word: string;
  /** Header of a wallet's stamp. */
  readonly walletSignatureHeader: string;
  /** Header of a webhook's signature. */
  readonly webhookSignatureHeader: string;
  /** An error code as clients see it; other texts come back as they are. */
  code(neutral: string): string;
  /** Any listed name as clients see it; other texts come back as they are. */
  wire(neutral: string): string;
  /** A path with the listed names among its parts as clients see them. */
  path(neutral: string): string;
  /** A sentence of ours with the listed names among its words as clients see them. */
  text(neutral: string): string;
  /** The neutral name of what a client wrote; other texts come back as they are. */
  neutral(wire: string): string;
  /**
   * A body or document on its way out: keys and texts that are listed names are renamed, at any
   * depth.
   */
  toWire(value: unknown): unknown;
  /** A body on its way in, the other way round. */
  fromWire(value: unknown): unknown;
}

/** A word is letters and digits and starts with a capital: `Acme`, `AcmePay`. */
export const isServiceWord = (word: string): boolean => /^[A-Z][A-Za-z0-9]{0,31}$/.test(word);

/** The whole table for one word. Throws RangeError for a text that is no word. */
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
  // The usual word changes nothing, and then no body is walked.
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
