// Converts typed durations, such as `2d` or `1h30m`, to ISO 8601 durations of the API.
import { usageError } from '../exit.ts';

const ISO = /^P(?=.)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?)$/;
const PARTS = /^(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/;

export function isoDuration(text: string): string {
  const upperText = text.toUpperCase();
  if (ISO.test(upperText)) return upperText;
  const match = PARTS.exec(text.toLowerCase().replaceAll(/\s+/g, ''));
  const parts = (match ?? []).slice(1).map((each) => Number(each ?? 0));
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts;
  if (!match || text.trim() === '') {
    throw usageError(`${text} is not a duration.`, 'Examples: 2d, 1h30m, 90s, P2D');
  }
  const date = weeks * 7 + days > 0 ? `${weeks * 7 + days}D` : '';
  const time = [
    hours > 0 ? `${hours}H` : '',
    minutes > 0 ? `${minutes}M` : '',
    seconds > 0 ? `${seconds}S` : '',
  ].join('');
  return date || time ? `P${date}${time && `T${time}`}` : 'PT0S';
}
