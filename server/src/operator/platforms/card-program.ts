// `platform cards|set-cards`: the maximum number of a platform's cards, and the pages that may frame
// the page with a card's number. The framed page lists these origins in a header, so only plain
// origins are accepted.

import {
  CARD_PROGRAM_MAXIMUM,
  changeCardProgram,
  isFrameOrigin,
} from '../../features/tenancy/administration/index.ts';
import { cardProgramOf } from '../../features/tenancy/config/index.ts';
import { type CardProgram, platformById } from '../../features/tenancy/platform/index.ts';
import type { Mode } from '../../kernel/mode.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { record } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';

const PLATFORM: Flags = {
  platform: { value: 'PLATFORM', required: true, help: 'ID of the platform' },
};

function outputOf(json: CardProgram): Output {
  const text = record([
    ['Maximum open cards', String(json.maxLive)],
    ['Maximum open cards per cardholder', String(json.maxLivePerHolder)],
    ['Permitted frame origins', json.frameOrigins.join(', ') || 'none'],
  ]);
  return { json, text };
}

function countIn(args: CommandArgs, flag: string, max: number): number | undefined {
  const text = args.text(flag);
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text) || Number(text) > max) {
    throw usageError(`--${flag} must be a whole number from 0 to ${max}`);
  }
  return Number(text);
}

function originsIn(args: CommandArgs, environment: Mode): string[] | undefined {
  const origins = args.list('frame-origins');
  if (!origins) return undefined;
  if (origins.join() === 'none') return [];
  const invalidOrigin = origins.find((each) => !isFrameOrigin(each, environment));
  if (invalidOrigin !== undefined) {
    throw usageError(
      `--frame-origins must be origins like https://app.example.com, not ${invalidOrigin}`,
    );
  }
  const distinctOrigins = [...new Set(origins)];
  if (distinctOrigins.length > CARD_PROGRAM_MAXIMUM.frameOrigins) {
    throw usageError(
      `--frame-origins must have at most ${CARD_PROGRAM_MAXIMUM.frameOrigins} origins`,
    );
  }
  return distinctOrigins;
}

async function set({ runtime }: System, args: CommandArgs): Promise<Output> {
  const { id, environment } = await platformById(runtime, args.required('platform'));
  const maxLive = countIn(args, 'max-live', CARD_PROGRAM_MAXIMUM.maxLive);
  const maxLivePerHolder = countIn(
    args,
    'max-live-per-holder',
    CARD_PROGRAM_MAXIMUM.maxLivePerHolder,
  );
  const frameOrigins = originsIn(args, environment);
  const change: Partial<CardProgram> = {
    ...(maxLive === undefined ? {} : { maxLive }),
    ...(maxLivePerHolder === undefined ? {} : { maxLivePerHolder }),
    ...(frameOrigins ? { frameOrigins } : {}),
  };
  if (Object.keys(change).length === 0) {
    throw usageError('--max-live, --max-live-per-holder or --frame-origins is required');
  }
  return outputOf(await changeCardProgram(runtime, id, change));
}

export const cardProgramVerbs: readonly Verb[] = [
  {
    noun: 'platform',
    verb: 'cards',
    summary: 'Show the card limits of a platform and the origins that may frame card numbers',
    flags: PLATFORM,
    positional: 'platform',
    run: async ({ runtime }, args) =>
      outputOf(cardProgramOf(await platformById(runtime, args.required('platform')))),
  },
  {
    noun: 'platform',
    verb: 'set-cards',
    summary: 'Change the card settings of a platform. Settings without a flag are unchanged',
    flags: {
      ...PLATFORM,
      'max-live': { value: 'N', help: 'Maximum open cards (default: 10000)' },
      'max-live-per-holder': {
        value: 'N',
        help: 'Maximum open cards per cardholder (default: 10)',
      },
      'frame-origins': {
        value: 'ORIGIN,ORIGIN',
        list: true,
        help:
          'Origins that may frame the page with a card number. The complete list, or none ' +
          '(default: none)',
      },
    },
    positional: 'platform',
    run: set,
  },
];
