// Values of the API as text: amounts in major units, times to the second.
type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `25000` with two decimals is `250.00`. */
function majorUnits(amount: number, decimals: number): string {
  const digits = String(Math.abs(amount)).padStart(decimals + 1, '0');
  const integerLength = digits.length - decimals;
  const fraction = decimals > 0 ? `.${digits.slice(integerLength)}` : '';
  return `${amount < 0 ? '-' : ''}${digits.slice(0, integerLength)}${fraction}`;
}

function moneyOf(value: Json): string | undefined {
  const { amount, currency } = value;
  if (typeof amount !== 'number' || !isObject(currency)) return undefined;
  const { code, decimals } = currency;
  if (typeof code !== 'string') return undefined;
  return `${typeof decimals === 'number' ? majorUnits(amount, decimals) : amount} ${code}`;
}

const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/;

/** One line of text, or undefined for objects without a short form and lists of objects. */
export function shortText(value: unknown): string | undefined {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value.replace(TIME, '$1 $2').replaceAll(/\s+/g, ' ');
  if (Array.isArray(value)) {
    const texts = value.map((each) => (isObject(each) ? undefined : shortText(each)));
    return texts.includes(undefined) ? undefined : texts.join(', ');
  }
  if (!isObject(value)) return String(value);
  return moneyOf(value);
}

export const timeOfDay = (iso: string): string => /T(\d\d:\d\d:\d\d)/.exec(iso)?.[1] ?? iso;
