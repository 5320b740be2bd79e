// API names that contain the service name prefix. The code uses the neutral prefix `Service`. An
// operator that replaces a branded service configures the prefix of that brand, so existing clients
// receive the headers, codes and fields of that brand. The names are listed, because names such as
// SERVICE_UNAVAILABLE and OTHER_SERVICES must not change.

/** Neutral names, by the spelling of their prefix. */
const NAMES = {
  /** Prefix as configured. */
  title: [
    'Service-Wallet-Signature',
    'X-Service-Signature',
    'requestStablecoinServiceEnablement',
    'StablecoinServiceInternalBurnSource',
    'StablecoinServiceInternalFundingSource',
    'StablecoinServiceOperationsStatus',
  ],
  /** Prefix in upper case. */
  upper: [
    'SERVICE_SWITCH_ERROR',
    'SERVICE_INTERNAL_ACCOUNT',
    'CLOSED_BY_SERVICE',
    'STABLECOIN_SERVICE_ENABLEMENT_NOT_REQUESTABLE',
    'STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED',
  ],
  /** Prefix with a lower-case first letter. */
  camel: [
    'serviceApiMultiplier',
    'serviceApiFixedFee',
    'serviceApiVariableFeeRate',
    'serviceApiVariableFeeAmount',
    'serviceOperationsStatus',
  ],
  /** Prefix in lower case, in paths. */
  lower: ['request-service-enablement'],
} as const;

export interface Naming {
  readonly prefix: string;
  readonly walletSignatureHeader: string;
  readonly webhookSignatureHeader: string;
  /** Header for the ID of the key that signs a webhook. */
  readonly webhookKeyIdHeader: string;
  /** API form of an error code. Other strings are unchanged. */
  code(neutralCode: string): string;
  /** API form of a listed name. Other strings are unchanged. */
  apiName(neutralName: string): string;
  /** API form of a path. Listed names among its segments are renamed. */
  path(neutralPath: string): string;
  /** API form of a message. Listed names among its words are renamed. */
  text(neutralText: string): string;
  /** Neutral form of an API name. Other strings are unchanged. */
  neutralName(apiName: string): string;
  /** API form of a response body or document. Renames keys and text values at any depth. */
  toApiNames(value: unknown): unknown;
  /** Neutral form of a request body. Renames keys and text values at any depth. */
  toNeutralNames(value: unknown): unknown;
}

/**
 * A prefix has 1 to 32 letters and digits and starts with an upper-case letter, such as `AcmePay`.
 */
export const isServiceNamePrefix = (prefix: string): boolean =>
  /^[A-Z][A-Za-z0-9]{0,31}$/.test(prefix);

/** Names for one prefix. Throws RangeError for an invalid prefix. */
export function namingFor(prefix: string): Naming {
  if (!isServiceNamePrefix(prefix)) {
    throw new RangeError(
      `the service name prefix ${prefix} must be 1 to 32 letters and digits, with an upper-case first letter`,
    );
  }
  const camelPrefix = prefix.charAt(0).toLowerCase() + prefix.slice(1);
  const pairs: [string, string][] = [
    ...NAMES.title.map((name): [string, string] => [name, name.replace('Service', prefix)]),
    ...NAMES.upper.map((name): [string, string] => [
      name,
      name.replace('SERVICE', prefix.toUpperCase()),
    ]),
    ...NAMES.camel.map((name): [string, string] => [name, name.replace('service', camelPrefix)]),
    ...NAMES.lower.map((name): [string, string] => [
      name,
      name.replace('service', prefix.toLowerCase()),
    ]),
  ];
  const apiNames = new Map(pairs);
  const neutralNames = new Map(pairs.map(([neutral, api]): [string, string] => [api, neutral]));
  const apiName = (name: string) => apiNames.get(name) ?? name;
  const neutralName = (name: string) => neutralNames.get(name) ?? name;
  // The neutral prefix changes no name, so bodies are not traversed.
  const isDefault = prefix === 'Service';
  return {
    prefix,
    walletSignatureHeader: apiName('Service-Wallet-Signature'),
    webhookSignatureHeader: apiName('X-Service-Signature'),
    webhookKeyIdHeader: `${apiName('X-Service-Signature')}-Key-Id`,
    code: apiName,
    apiName,
    path: (path) => path.split('/').map(apiName).join('/'),
    text: (text) => (isDefault ? text : text.replaceAll(/[\w-]+/g, apiName)),
    neutralName,
    toApiNames: (value) => (isDefault ? value : renameAll(value, apiName)),
    toNeutralNames: (value) => (isDefault ? value : renameAll(value, neutralName)),
  };
}

function renameAll(value: unknown, rename: (name: string) => string): unknown {
  if (typeof value === 'string') return rename(value);
  if (Array.isArray(value)) return value.map((item) => renameAll(item, rename));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [rename(key), renameAll(item, rename)]),
  );
}
