import { z } from 'zod';
import { inputSchema } from '../../runtime/input-schema.ts';

export const showTeam = inputSchema(z.strictObject({}));
