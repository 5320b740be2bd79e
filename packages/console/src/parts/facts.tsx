// Any reply of the API as labeled values. Amounts, times, IDs and states are recognized by their
// names and formats.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { usePlatform } from '../shell/platform.tsx';
import { fieldLabel } from '../texts/fields.ts';
import { TEXTS } from '../texts/texts.ts';
import { CopyButton, Identifier } from './identifier.tsx';
import { Amount, type Money } from './money.tsx';
import { OperationName } from './operation-name.tsx';
import { OperatorName } from './operator-name.tsx';
import { Scroll } from './scroll.tsx';
import { Code, Status } from './status.tsx';
import { Time } from './time.tsx';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;
const ID = /^[A-Za-z]+:[0-9a-f]{8}-[0-9a-f-]{27}$/;
const OPERATOR = /^OperatorUser:/;
/** At least three characters, to exclude the state of an address. */
const STATE = /^[A-Z][A-Z0-9]{2,}(?:_[A-Z0-9]+)*$/;
const STATE_NAME = /(?:status|state|^type|kind|mode|direction|funds|result|outcome|decision)$/i;

/** Rows of a change have times as milliseconds. */
const INSTANT_NAME = /(?:At|^since|^until)$/;
const MIN_INSTANT = 1e12;
/** Fields whose values are codes of one word. */
const CODE_NAME = /(?:side|source|method|reason|type|network)$/i;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Fields that are amounts, in minor units of the currency of their object. */
const AMOUNT_NAME =
  /(?:amount|balance|held|available|sentSince|fees?|perPayment|perTransfer|perDay|alertBelow|costFixed)$/i;

/** The value of a field. The value of an amount includes the currency of the object. */
export function valueIn(object: Readonly<Record<string, unknown>>, name: string): unknown {
  const { currency, [name]: value } = object;
  const isAmount =
    typeof currency === 'string' && AMOUNT_NAME.test(name) && typeof value === 'number';
  return isAmount ? { amount: value, currency } : value;
}

const isMoney = (value: Record<string, unknown>): boolean =>
  'amount' in value && typeof value.currency === 'string' && Object.keys(value).length === 2;

function PlatformName({ id }: { id: string }) {
  const { platforms } = usePlatform();
  const platform = platforms.find((each) => each.id === id);
  if (!platform) return <Identifier id={id} />;
  return <Link to={`/platforms/${encodeURIComponent(id)}`}>{platform.name}</Link>;
}

/** Labels of values whose code is not self-explanatory. */
const VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  environment: { production: TEXTS.production, sandbox: TEXTS.sandbox },
  railMode: { AUTO: TEXTS.automatically, MANUAL: TEXTS.byRequest },
};

/** Secrets and keys, which have a copy button. */
const COPYABLE = /(?:secret|publicKey)$/i;

function textValue(name: string, value: string): ReactNode {
  if (COPYABLE.test(name) || value.includes('\n'))
    return (
      <>
        <span className="code verbatim">{value}</span>{' '}
        <CopyButton text={value} label={fieldLabel(name)} />
      </>
    );
  if (name === 'platformId') return <PlatformName id={value} />;
  const label = VALUES[name]?.[value];
  if (label) return label;
  if (name === 'operationId') return <OperationName id={value} />;
  if (OPERATOR.test(value)) return <OperatorName id={value} />;
  if (TIME.test(value)) return <Time value={value} />;
  if (ID.test(value)) return <Identifier id={value} />;
  if (STATE_NAME.test(name) && (STATE.test(value) || /^[a-z]+$/.test(value)))
    return <Status value={value} />;
  if (STATE.test(value) && (value.includes('_') || CODE_NAME.test(name)))
    return <Code value={value} />;
  return value;
}

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

/** A size with at most three digits, such as `142 MB`. */
function sizeText(bytes: number): string {
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), BYTE_UNITS.length - 1);
  const unit = BYTE_UNITS[step] as string;
  const format = new Intl.NumberFormat(undefined, {
    ...{ style: 'unit', unit, maximumSignificantDigits: 3 },
  });
  return format.format(bytes / 1_000 ** step);
}

const DURATION_UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** A duration in its largest unit, such as `3 hours`. */
function durationText(seconds: number): string {
  const [unit, size] = DURATION_UNITS.find(([, each]) => seconds >= each) ?? ['second', 1];
  const format = { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 0 } as const;
  return new Intl.NumberFormat(undefined, format).format(Math.floor(seconds / size));
}

function numberText(name: string, value: number): string {
  if (/bytes$/i.test(name)) return sizeText(value);
  if (/seconds$/i.test(name)) return durationText(value);
  if (/year$/i.test(name)) return String(value);
  return value.toLocaleString();
}

function List({ name, items }: { name: string; items: readonly unknown[] }) {
  if (items.length === 0) return <span className="none">{TEXTS.none}</span>;
  if (items.every((each) => typeof each === 'string' && ID.test(each)))
    return items.map((id) => <Identifier key={String(id)} id={String(id)} />);
  if (items.every((each) => !isObject(each))) return items.map(String).join(', ');
  const rows = items.filter(isObject);
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <Scroll label={fieldLabel(name)}>
      <table className="grid">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {fieldLabel(column)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // Rows of a reply have no common key, and their order does not change.
            <tr key={`${name}-${index.toString()}`}>
              {columns.map((column) => (
                <td key={column}>
                  <Value name={column} value={valueIn(row, column)} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** Shows a value of a reply by its format. */
export function Value({ name, value }: { name: string; value: unknown }): ReactNode {
  if (value === null || value === undefined || value === '')
    return <span className="none">{TEXTS.none}</span>;
  if (typeof value === 'boolean') return value ? TEXTS.yes : TEXTS.no;
  if (typeof value === 'number' && INSTANT_NAME.test(name) && value > MIN_INSTANT)
    return <Time value={new Date(value).toISOString()} />;
  if (typeof value === 'number')
    return (
      <span className="amount" title={String(value)}>
        {numberText(name, value)}
      </span>
    );
  if (typeof value === 'string') return textValue(name, value);
  if (Array.isArray(value)) return <List name={name} items={value} />;
  if (!isObject(value)) return String(value);
  if (isMoney(value)) return <Amount value={value as unknown as Money} />;
  return <Facts value={value} />;
}

/** Whether a value is shown as a table. */
export const isTable = (value: unknown): boolean => Array.isArray(value) && value.some(isObject);

/** Whether a value needs the full width. True for tables, and for objects other than amounts. */
const isWide = (value: unknown): boolean => isTable(value) || (isObject(value) && !isMoney(value));

interface FactsProps {
  value: Readonly<Record<string, unknown>>;
  /** Names of fields that are shown elsewhere. */
  hiddenFields?: readonly string[];
}

/** The fields of an object that have a value. */
export function Facts({ value, hiddenFields = [] }: FactsProps) {
  const entries = Object.keys(value)
    .map((name) => [name, valueIn(value, name)] as const)
    .filter(([name, each]) => !hiddenFields.includes(name) && each !== undefined && each !== null);
  if (entries.length === 0) return <span className="none">{TEXTS.none}</span>;
  return (
    <dl className="facts">
      {entries.map(([name, each]) => (
        <div key={name} className={isWide(each) ? 'wide' : undefined}>
          <dt>{fieldLabel(name)}</dt>
          <dd>
            <Value name={name} value={each} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
