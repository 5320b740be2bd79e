// Files in a bucket of an S3-compatible service.
import { Type } from '@sinclair/typebox';
import { matches, serviceSetting, textSetting } from '../../kernel/settings.ts';
import { defineConnector } from '../connector.ts';
import { FilesFolder } from '../ports/shared-settings.ts';
import { s3Storage } from './storage.ts';

const visible = matches(/^[!-~]{1,256}$/, 'must be 1 to 256 visible characters');

const bucket = Type.Object(
  {
    endpoint: serviceSetting({
      env: 'RAILHEAD_S3_ENDPOINT',
      flag: 's3-endpoint',
      help: 'service that speaks S3 to keep those files in instead; all five settings or none',
    }),
    bucket: textSetting(
      { env: 'RAILHEAD_S3_BUCKET', flag: 's3-bucket', value: 'NAME', help: 'its bucket' },
      matches(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket'),
    ),
    region: textSetting(
      {
        env: 'RAILHEAD_S3_REGION',
        flag: 's3-region',
        value: 'NAME',
        help: 'its region, such as eu-central-1',
      },
      matches(/^[a-z0-9-]{1,64}$/, 'must be the name of a region'),
    ),
    accessKeyId: textSetting(
      { env: 'RAILHEAD_S3_ACCESS_KEY_ID', help: 'access key for it', secret: true },
      visible,
    ),
    secretAccessKey: textSetting(
      { env: 'RAILHEAD_S3_SECRET_ACCESS_KEY', help: 'its secret', secret: true },
      visible,
    ),
  },
  { description: 'The bucket and its credentials.' },
);

export const s3 = defineConnector({
  name: 's3',
  description: 'Keeps files in a bucket; those on their way to it are staged in a folder.',
  modes: ['sandbox', 'production'],
  settings: Type.Object({ folder: FilesFolder, s3: bucket }),
  capabilities: ['storage'],
  open: ({ provider }, settings) => ({
    storage: s3Storage(provider('storage'), settings.s3, settings.folder),
  }),
});
