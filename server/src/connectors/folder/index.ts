// Files in a folder of this machine.
import { Type } from '@sinclair/typebox';
import { defineConnector } from '../connector.ts';
import { FilesFolder } from '../ports/shared-settings.ts';
import { folderStorage } from './storage.ts';

export const folder = defineConnector({
  name: 'folder',
  description: 'Stores files in a folder.',
  modes: ['sandbox', 'production'],
  settings: Type.Object({ folder: FilesFolder }),
  capabilities: ['storage'],
  fallbackFor: ['storage'],
  open: (_context, settings) => ({ storage: folderStorage(settings.folder) }),
});
