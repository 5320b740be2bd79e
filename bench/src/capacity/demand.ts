// The flags of `npm run capacity`. All invalid flags are reported together.
import { type Demand, type Kind, PAYMENTS } from './model.ts';

export const USAGE = `Usage: npm run capacity -- --payments-per-day N [flags]

  --payments-per-day 10000000  payments a day, without a default
  --kind payout                payout, conversion or deposit
  --events 5                   events per payment (default: those of the kind)
  --endpoints 1                endpoints that receive each event
  --reads 2                    GET requests per payment
  --retention 30d              retention of events and recorded requests
  --peak 3                     busiest rate divided by the mean rate
  --bodies                     bodies of requests are recorded
  --json                       print one JSON object
  --tables                     print the tables of docs/scaling.md
  --measure                    measure the costs on this machine, about two minutes

The other values are the defaults.`;

export const DEFAULTS = {
  ...{ kind: 'payout', endpoints: 1, reads: 2, retentionDays: 30, peak: 3, bodies: false },
} as const;

interface Rule {
  pattern: RegExp;
  min: number;
  max: number;
  /** Description of a valid value, for the error message. */
  validValues: string;
}

const COUNT = /^\d+$/;
const RULES: Readonly<Record<string, Rule>> = {
  'payments-per-day': {
    ...{ pattern: COUNT, min: 1, max: 1e12 },
    validValues: 'a whole number from 1 to 1000000000000',
  },
  events: { pattern: COUNT, min: 0, max: 100, validValues: 'a whole number from 0 to 100' },
  endpoints: { pattern: COUNT, min: 0, max: 100, validValues: 'a whole number from 0 to 100' },
  reads: { pattern: /^\d+(\.\d+)?$/, min: 0, max: 1_000, validValues: 'a number from 0 to 1000' },
  retention: {
    pattern: /^\d+d$/,
    min: 8,
    max: 999,
    validValues: 'a number of days from 8d to 999d',
  },
  peak: { pattern: /^\d+(\.\d+)?$/, min: 1, max: 1_000, validValues: 'a number from 1 to 1000' },
};
const SWITCHES = ['bodies', 'json', 'tables', 'measure'];

export interface Request {
  /** Absent with `tables` or `measure`. */
  demand?: Demand;
  isJson: boolean;
  tables: boolean;
  measure: boolean;
}

/** Values of flags by name, `--flag value` or `--flag=value`. Switches have an empty value. */
function readValues(argv: readonly string[], errors: string[]): Map<string, string> {
  const values = new Map<string, string>();
  const args = argv.flatMap((argument) =>
    /^--[^=]+=/.test(argument) ? splitOnce(argument) : [argument],
  );
  for (let argument = args.shift(); argument !== undefined; argument = args.shift()) {
    const name = argument.replace(/^--/, '');
    const isKnown = argument.startsWith('--') && (name in RULES || name === 'kind');
    if (values.has(name)) errors.push(`${argument} is repeated. Give each flag once.`);
    if (SWITCHES.includes(name) && argument.startsWith('--')) values.set(name, '');
    else if (isKnown) values.set(name, args[0]?.startsWith('--') ? '' : (args.shift() ?? ''));
    else errors.push(`${argument} is unknown.`);
  }
  return values;
}

const splitOnce = (argument: string) => [
  argument.slice(0, argument.indexOf('=')),
  argument.slice(argument.indexOf('=') + 1),
];

const valueText = (value: string) =>
  value === '' ? 'The value is missing' : `The value is ${value}`;

/** The parsed flags, or one line for each error. */
export function readRequest(argv: readonly string[]): { request: Request } | { errors: string[] } {
  const errors: string[] = [];
  const values = readValues(argv, errors);
  const isSwitchedOn = (name: string) => values.has(name);
  const isSizing = !isSwitchedOn('tables') && !isSwitchedOn('measure');
  if (isSizing && !values.has('payments-per-day')) errors.push('--payments-per-day is missing.');

  function numberOf(name: string, fallback: number): number {
    const text = values.get(name);
    if (text === undefined) return fallback;
    const { pattern, min, max, validValues } = RULES[name] as Rule;
    const value = Number.parseFloat(text);
    if (pattern.test(text) && value >= min && value <= max) return value;
    errors.push(`--${name} must be ${validValues}. ${valueText(text)}.`);
    return fallback;
  }

  const kind = values.get('kind') ?? DEFAULTS.kind;
  if (!Object.hasOwn(PAYMENTS, kind))
    errors.push(`--kind must be payout, conversion or deposit. ${valueText(kind)}.`);
  const events = PAYMENTS[kind as Kind]?.events ?? PAYMENTS.payout.events;
  const demand: Demand = {
    kind: kind as Kind,
    paymentsPerDay: numberOf('payments-per-day', 1),
    events: numberOf('events', events),
    endpoints: numberOf('endpoints', DEFAULTS.endpoints),
    reads: numberOf('reads', DEFAULTS.reads),
    retentionDays: numberOf('retention', DEFAULTS.retentionDays),
    peak: numberOf('peak', DEFAULTS.peak),
    bodies: isSwitchedOn('bodies'),
  };
  if (errors.length > 0) return { errors };
  const request = {
    isJson: isSwitchedOn('json'),
    tables: isSwitchedOn('tables'),
    measure: isSwitchedOn('measure'),
  };
  return { request: isSizing ? { ...request, demand } : request };
}
